"""The table of engines: two frameworks, two styles; nothing here imports a framework."""

from typing import Literal

import msgspec

Framework = Literal["mindspore", "torch"]
Style = Literal["tape", "graph"]
Kind = Literal["mindspore", "mindspore-second", "mindspore-capture", "mindspore-passes", "torch"]
"""The kinds of worker process; MindSpore needs another environment from its start on to write down its graphs, or every pass
over them, and a second process to compile in, since each case takes it as long as all others together take the other engines."""


class Engine(msgspec.Struct, frozen=True):
    """One way to get a gradient; ``module`` answers, captures and describes, and is imported by workers only.

    Its cases are shared among the workers ``answers_in``; graphs are captured in ``captures_in``.
    """

    name: str
    framework: Framework
    style: Style
    module: str
    answers_in: tuple[Kind, ...]
    captures_in: Kind
    how: str


_TABLE: tuple[tuple[Framework, Style, tuple[Kind, ...], Kind, str], ...] = (
    ("mindspore", "graph", ("mindspore", "mindspore-second"), "mindspore-capture", "ms.grad, GRAPH_MODE"),
    ("mindspore", "tape", ("mindspore",), "mindspore", "ms.grad, PYNATIVE_MODE"),
    ("torch", "tape", ("torch",), "torch", "backward and autograd.grad"),
    ("torch", "graph", ("torch",), "torch", "AOTAutograd's joint graph"),
)

ENGINES: dict[str, Engine] = {
    f"{framework}-{style}": Engine(
        f"{framework}-{style}", framework, style, f"{__name__}.{framework}_{style}", answers_in, captures_in, how
    )
    for framework, style, answers_in, captures_in, how in _TABLE
}

FRAMEWORKS: tuple[Framework, ...] = ("mindspore", "torch")
