"""The table of engines: two frameworks, two styles; nothing here imports a framework."""

from typing import Literal

import msgspec

Framework = Literal["mindspore", "torch"]
Style = Literal["tape", "graph"]
Kind = Literal["mindspore", "mindspore-capture", "torch"]
"""The kinds of worker process; MindSpore needs another environment from its start on to write down its graphs."""


class Engine(msgspec.Struct, frozen=True):
    """One way to get a gradient; ``module`` answers, captures and describes, and is imported by workers only.

    It answers in the worker called after its framework, and captures in ``captures_in``.
    """

    name: str
    framework: Framework
    style: Style
    module: str
    captures_in: Kind
    how: str


HERE = __name__

ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("mindspore-graph", "mindspore", "graph", f"{HERE}.mindspore_graph", "mindspore-capture", "ms.grad, GRAPH_MODE"),
        Engine("mindspore-tape", "mindspore", "tape", f"{HERE}.mindspore_tape", "mindspore", "ms.grad, PYNATIVE_MODE"),
        Engine("torch-tape", "torch", "tape", f"{HERE}.torch_tape", "torch", "backward and autograd.grad"),
        Engine("torch-graph", "torch", "graph", f"{HERE}.torch_graph", "torch", "AOTAutograd's joint graph"),
    )
}

FRAMEWORKS: tuple[Framework, ...] = ("mindspore", "torch")
