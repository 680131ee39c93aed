"""The table of engines: two frameworks, two styles; nothing here imports a framework."""

from typing import Literal

import msgspec

Framework = Literal["mindspore", "torch"]
Style = Literal["tape", "graph"]


class Engine(msgspec.Struct, frozen=True):
    """One way to get a gradient; ``module`` answers, captures and describes, and is imported by workers only."""

    name: str
    framework: Framework
    style: Style
    module: str
    how: str


ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("mindspore-graph", "mindspore", "graph", "explorer.engines.mindspore_graph", "ms.grad in GRAPH_MODE"),
        Engine("mindspore-tape", "mindspore", "tape", "explorer.engines.mindspore_tape", "ms.grad in PYNATIVE_MODE"),
        Engine("torch-tape", "torch", "tape", "explorer.engines.torch_tape", "backward and autograd.grad"),
        Engine("torch-graph", "torch", "graph", "explorer.engines.torch_graph", "AOTAutograd's joint graph"),
    )
}

FRAMEWORKS: tuple[Framework, ...] = ("mindspore", "torch")
