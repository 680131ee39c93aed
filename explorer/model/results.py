"""An engine's answer to a case: its tensors with their noise, or why there are none."""

from typing import Literal

import msgspec
import numpy as np

from explorer.model.arrays import Array, unpack
from explorer.model.engines import Framework
from explorer.model.failures import Failure
from explorer.model.graph import GradGraph
from explorer.model.state import StateChange
from explorer.model.trees import Nested, Tree, fill, render

Outcome = Literal["ok", "raised", "unsupported", "crashed", "timed_out", "not_asked", "not_defined"]

ANSWERED: tuple[Outcome, ...] = ("ok", "raised")
"""Outcomes in which the framework itself gave a result or an error."""

LOST: tuple[Outcome, ...] = ("crashed", "timed_out")
"""Outcomes in which a worker process was lost."""

NoteKind = Literal[
    "joint_has_none", "grad_is_none", "reentrant", "ids_of_many", "ids_take_long", "ids_raise"
]
"""What is unlike the plain call in an answer.

- "joint_has_none", "grad_is_none": the outputs do not depend on the leaves ``detail``, whose
  gradients are shown as zeros: the joint graph has none, or PyTorch leaves .grad as None
- "reentrant": a block is recomputed with use_reentrant=True, so that the answer is that of
  ``.backward()``
- "ids_of_many", "ids_take_long": return_ids=True is left out, since the net has ``detail``
  parameters or takes long to compile
- "ids_raise": return_ids=True raises ``error``
"""


class ResultNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """A note on an answer; ``detail`` has names or a number."""

    kind: NoteKind
    detail: str = ""
    error: Failure | None = None


class Leaf(msgspec.Struct, frozen=True):
    """One tensor of a result, under the name that a reader knows: "dx", "dfc.weight", "logits"."""

    name: str
    value: Array


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One engine's answer to one case.

    ``structure`` nests the names of ``leaves`` as MindSpore returns them; it is empty where there
    are none. ``natural`` is how the engine's own idiom writes its answer. ``ids`` are the names
    that ``return_ids=True`` adds, none where that was not requested; ``code`` is what a reader can paste
    to get the same; ``note`` says what the code had to do to get there.
    """

    outcome: Outcome
    structure: Tree = ""
    leaves: tuple[Leaf, ...] = ()
    natural: str = ""
    ids: tuple[str, ...] = ()
    error: Failure | None = None
    code: str = ""
    note: ResultNote | None = None

    @property
    def written(self) -> str:
        """The structure as Python writes it: ``(dx, (logits,))``."""
        return render(self.structure)

    @property
    def nested(self) -> "Nested[Leaf]":
        """The leaves of a result with outcome "ok", nested like ``structure``."""
        return fill(self.structure, self.leaves)


class Captured(msgspec.Struct, frozen=True):
    """The graphs of one case, and the answer that was computed while they were captured.

    There is usually one graph; of several compiler stages the one that is compared stands last.
    ``state`` is what the call has changed of the net's state.
    """

    graphs: tuple[GradGraph, ...]
    result: Result
    state: tuple[StateChange, ...] = ()


ObstacleKind = Literal["not_finite", "border", "jump", "kinks", "rough", "time", "noise"]
"""Why a number has no estimate, or one that judges nothing.

- "not_finite": the outputs of the net are nan or infinite at the point itself
- "border": they are finite at the point and not beside it, as at the border of a domain
- "jump": the net jumps there, or is infinitely steep
- "kinks": several kinks meet there, and slopes to either side do not bound their derivatives
- "rough": a gradient of lower order is not smooth there
- "time": the oracle's time was over
- "noise": the engines' noise there is as great as the gradient itself
"""


class Obstacle(msgspec.Struct, frozen=True):
    """Why the oracle does not judge some elements of a leaf.

    ``count`` is their number, and ``index`` that of the first.
    """

    kind: ObstacleKind
    count: int
    index: tuple[int, ...] = ()


class Estimate(msgspec.Struct, frozen=True):
    """One leaf of the oracle's answer: every element, or derivatives along seeded directions.

    With ``directions`` k > 0, ``value`` holds k numbers: the derivative along each row of
    ``directions(name, k, shape)``, in which elements that are not ``smooth`` are set to 0. ``noise``
    is how far rounding may have moved each number: that of the outputs, divided by the step. Of a
    net with very many leaves neighbours are varied ``together``, each along directions of its own:
    the names of those whose derivatives are added here, empty for one leaf alone. ``kinks`` is None
    for a smooth net; else it has, for each number, half of what the slopes to either side part by at
    a kink, and 0 elsewhere; it is infinite where several kinks meet, so that these slopes are no
    bounds. A number that is not finite is no estimate. ``obstacles`` say of how many elements there
    is no estimate, and why.
    """

    name: str
    value: Array
    directions: int = 0
    noise: float = 0.0
    together: tuple[str, ...] = ()
    kinks: Array | None = None
    smooth: Array | None = None
    obstacles: tuple[Obstacle, ...] = ()

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of all leaves that it is about."""
        return self.together or (self.name,)

    @property
    def at_kinks(self) -> int:
        """How many of its numbers are those of a kink."""
        return 0 if self.kinks is None else int(np.count_nonzero(unpack(self.kinks)))

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return int(unpack(self.value).size)

    @property
    def not_finite(self) -> int:
        """How many of its numbers are not finite."""
        return int(np.count_nonzero(~np.isfinite(unpack(self.value))))


class OracleResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The oracle's answer to one case, or why there is none.

    ``stops`` says that the net cuts values off from differentiation, which were held. ``framework`` is
    that of the net. ``beside`` are the answers by the nets of other frameworks, each of which judges the
    engines of its own.
    """

    outcome: Outcome
    estimates: tuple[Estimate, ...] = ()
    error: Failure | None = None
    stops: bool = False
    framework: Framework = "torch"
    beside: "tuple[OracleResult, ...]" = ()  # quoted whole, as in trees.py


class About(msgspec.Struct, frozen=True):
    """A worker's report: versions by package name, and the devices that it can use here."""

    versions: dict[str, str]
    devices: tuple[str, ...]


class LeafNoise(msgspec.Struct, frozen=True):
    """The noise of one tensor of a result, element by element.

    ``movement`` has the tensor's shape, float32, in the units of its values: the root mean square
    over the runs of how far each element moves. That of a complex tensor has one more axis, of its
    real and imaginary parts.
    """

    name: str
    movement: Array


class ResultNoise(msgspec.Struct, frozen=True, omit_defaults=True):
    """The noise of the answer to one case; no leaves, and the ``error``, where it has no answer.

    ``runs`` counts the runs that were compared with the plain one. ``drawn`` names the tensors that
    depend on random numbers: they were other ones when the net drew others. ``outputs`` are what the
    net returns, where the case returns it.
    """

    leaves: tuple[LeafNoise, ...] = ()
    runs: int = 0
    error: Failure | None = None
    drawn: tuple[str, ...] = ()
    outputs: tuple[Leaf, ...] = ()
