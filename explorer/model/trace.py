"""The record of one step of a program of the user's own: its graph, and what it started from."""

from typing import Literal

import msgspec

from explorer.model.arrays import Array
from explorer.model.engines import Framework
from explorer.model.failures import Failure
from explorer.model.graph import GradGraph, Setting
from explorer.model.results import Leaf
from explorer.model.state import StateChange

MissingKind = Literal[
    "fault",
    "raised",
    "memory",
    "full",
    "compiled",
    "compiled_eagerly",
    "compiled_calls",
    "older_version",
    "other_version",
    "older_backward",
    "graph_mode",
    "unknown_heads",
    "no_pass",
    "not_recorded",
    "inside_another",
]
"""What a trace does not have, and why.

- "fault": the recorder itself failed: nothing behind that point is recorded, and there may be no
  graph at all
- "raised": the step raised an exception; what ran before is recorded
- "memory": the tensors of the step need more than ``detail`` megabytes; what ran behind that point is not
  recorded
- "full": the record of a training has reached ``detail`` megabytes: later steps are not recorded
- "compiled": parts that torch.compile has compiled (``detail``: how many) are not seen inside: what
  they return has no op that made it
- "compiled_eagerly": this version of PyTorch runs compiled parts op by op while they are recorded: their
  values may differ from those of other steps by rounding
- "compiled_calls": the inside of functions that ms.jit has compiled, optimizers among them (``detail``: how
  many calls), each of which is one op
- "older_version": the graph: MindSpore shows nothing of its tape before version ``detail``
- "other_version": this version of the framework: steps are recorded in that of ``detail``
- "older_backward": the operators of backward before version ``detail`` of MindSpore: there is one for
  each of the forward
- "graph_mode": MindSpore's GRAPH_MODE compiles what runs, which is seen only in a program that
  ``explorer run`` has started
- "unknown_heads": a backward pass started from something other than tensors, and sums of
  gradients in it are not marked as such
- "no_pass": no gradient was seen: none was computed, or inside of a loop, or of many examples at once
- "not_recorded": no framework was imported
- "inside_another": the block is inside of another one
"""


SCHEMA = 1
"""The version of the form that is written, and the only one that is read."""


class Missing(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that a trace does not have; ``error`` is what was raised."""

    kind: MissingKind
    detail: str = ""
    error: Failure | None = None


class NotRecordedError(Exception):
    """A step cannot be recorded, for a reason that is known."""

    def __init__(self, missing: Missing) -> None:
        super().__init__(missing.kind)
        self.missing = missing


def fault(error: Exception) -> Missing:
    """What is missing where the recorder itself has failed, or has said why it does not record."""
    if isinstance(error, NotRecordedError):
        return error.missing
    return Missing("fault", error=Failure(type(error).__name__, str(error)))


StartRole = Literal["input", "parameter", "buffer", "optimizer", "constant"]
"""What a tensor is that a step reads and did not make.

What an "optimizer" holds goes by the parameter's name and its own: "fc.weight.exp_avg". A "constant" is
a tensor that no module holds and none was given as an argument.
"""


class Start(msgspec.Struct, frozen=True):
    """A tensor as the step found it; a large one is an excerpt."""

    name: str
    role: StartRole
    value: Array
    device: str = "cpu"
    trained: bool = False


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a program, as it ran.

    ``name`` is that of the file, ``step`` the number of the step where it is known, counted from 1.
    ``settings`` are those of the framework that may change values, ``random`` and ``random_after`` digests
    of the states of the random generators when the step began and ended. ``start`` has every tensor that the
    step read and did not make, ``results`` the losses and the gradients, ``state`` parameters and
    buffers that the step has changed. ``graph`` is None where there is none, and ``missing`` says what
    is not recorded.
    """

    schema: int = SCHEMA
    name: str
    framework: Framework
    step: int | None = None
    versions: dict[str, str] = {}
    devices: tuple[str, ...] = ()
    settings: dict[str, Setting] = {}
    random: dict[str, str] = {}
    random_after: dict[str, str] = {}
    start: tuple[Start, ...] = ()
    results: tuple[Leaf, ...] = ()
    state: tuple[StateChange, ...] = ()
    graph: GradGraph | None = None
    missing: tuple[Missing, ...] = ()
