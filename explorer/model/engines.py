"""The table of engines, two frameworks by two styles, and what each is called in front of a reader."""

from typing import Literal

import msgspec

Framework = Literal["mindspore", "torch"]
Style = Literal["tape", "graph"]

WorkerKind = Literal[
    "mindspore",
    "mindspore-second",
    "mindspore-plain",
    "mindspore-capture",
    "mindspore-passes",
    "torch",
    "scenario",
    "sweep",
]
"""The kinds of worker process.

MindSpore reads from its environment, at its start, whether a tape waits for each operator
("mindspore"), whether it writes its graphs down ("mindspore-capture") or every compiler pass over
them ("mindspore-passes"). It gets a second process to compile in, since each case costs it a
compilation. Time and memory are measured in one that is started as a reader starts it
("mindspore-plain"). In "scenario" the text of a user's file is run, before any framework is asked. A
"sweep" runs a whole job, in workers of its own.
"""

FRAMEWORKS: tuple[Framework, ...] = ("mindspore", "torch")


def framework_of(kind: WorkerKind) -> Framework | None:
    """The framework that a kind of worker imports; None where it imports none."""
    for framework in FRAMEWORKS:
        if kind.partition("-")[0] == framework:
            return framework
    return None


FRAMEWORK_LABELS: dict[Framework, str] = {"mindspore": "MindSpore", "torch": "PyTorch"}
"""The frameworks' names as they write them themselves."""


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """One way to get a gradient: a framework in one of its styles.

    ``module`` answers, captures and describes, and is imported by workers only. The engine's cases
    are shared among the workers ``answers_in``; its graphs are captured in ``captures_in``. ``how``
    names the call that it stands for.
    """

    framework: Framework
    style: Style
    answers_in: tuple[WorkerKind, ...]
    captures_in: WorkerKind
    how: str

    @property
    def name(self) -> str:
        """The name on the command line and in every record: "mindspore-graph"."""
        return f"{self.framework}-{self.style}"

    @property
    def module(self) -> str:
        """The module that workers import for it."""
        return f"explorer.engines.{self.framework}.{self.style}"

    @property
    def label(self) -> str:
        """The engine's name in tables: "MindSpore, graph"."""
        return f"{FRAMEWORK_LABELS[self.framework]}, {self.style}"


# The order of every report: neighbours share a framework or a style.
_TABLE = (
    Engine(
        framework="mindspore",
        style="graph",
        answers_in=("mindspore", "mindspore-second"),
        captures_in="mindspore-capture",
        how="ms.grad, GRAPH_MODE",
    ),
    Engine(
        framework="mindspore",
        style="tape",
        answers_in=("mindspore",),
        captures_in="mindspore",
        how="ms.grad, PYNATIVE_MODE",
    ),
    Engine(
        framework="torch",
        style="tape",
        answers_in=("torch",),
        captures_in="torch",
        how="backward and autograd.grad",
    ),
    Engine(
        framework="torch",
        style="graph",
        answers_in=("torch",),
        captures_in="torch",
        how="AOTAutograd's joint graph",
    ),
)

ENGINES: dict[str, Engine] = {engine.name: engine for engine in _TABLE}
