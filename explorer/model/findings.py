"""What the explorer found out about two nets beside their gradients: a mistake, a limit, a remark."""

from typing import Literal

import msgspec

from explorer.model.divergence import Divergence, Place
from explorer.model.engines import Framework
from explorer.model.failures import Failure
from explorer.model.known import Reference
from explorer.model.requests import Role

FindingKind = Literal[
    "role",
    "start",
    "output",
    "missing",
    "conditioning",
    "masks",
    "noise",
    "recording",
    "draws",
    "names",
    "non_finite",
    "broadcast",
    "convention",
    "equal",
    "omitted",
    "zeros",
    "hidden",
]
"""A kind of finding.

- "role": one net trains what the other holds frozen, as a buffer, as a plain tensor, or not at all
- "start": a starting value that the scenario gives reaches one net alone
- "output": a net returns tensors in a container through which MindSpore takes no gradient
- "missing": the scenario expects a finding that there is not
- "masks": the dropout layers of both nets drop by the same draws
- "noise": noise was not measured, since a worker was lost or the version lacks what it takes, and
  tolerances alone say what differs
- "recording": a graph was recorded in a run with other results than the plain call has
- "draws": an op draws random numbers, and results that depend on them are not compared
- "names": parameters of other names were paired by order and values, or start as parts of one
- "non_finite": a result is nan or infinite, and where that comes from
- "broadcast": two tensors are broadcast to all their pairs on the way to a loss
- "equal": an input has the same number everywhere, and a divergence no known cause
- "convention": the oracle refutes a gradient that is no derivative by convention
- "omitted": a net returns objects beside its tensors, which are not compared
- "zeros": gradients are 0 from a start of zeros, which hides what is wrong on the way to them
- "hidden": the nets differ from a start without these zeros
- "conditioning": an op multiplies rounding, so that few digits of its values mean anything
"""

REMARKS: frozenset[FindingKind] = frozenset(
    {
        "conditioning",
        "draws",
        "masks",
        "noise",
        "recording",
        "names",
        "non_finite",
        "broadcast",
        "convention",
        "equal",
        "omitted",
        "zeros",
    }
)
"""Kinds that say how a net is, and accuse neither side."""


class Holder(msgspec.Struct, frozen=True):
    """What one framework's net does with a tensor: its role, and its dtype where that is no float."""

    framework: Framework
    role: Role
    integers: str = ""


class OtherRole(msgspec.Struct, frozen=True, tag_field="fact", tag="other_role"):
    """One net trains what the other holds in another role; the net that trains it comes first."""

    name: str
    holders: tuple[Holder, Holder]


class LoneWeight(msgspec.Struct, frozen=True, tag_field="fact", tag="lone_weight"):
    """Only one framework's net trains this weight: the other has nothing left of its size and kind."""

    name: str
    shape: tuple[int, ...]
    framework: Framework


class LoneIntegers(msgspec.Struct, frozen=True, tag_field="fact", tag="lone_integers"):
    """MindSpore's net trains a parameter of integers that PyTorch's does not have."""

    name: str
    dtype: str


class LoneStart(msgspec.Struct, frozen=True, tag_field="fact", tag="lone_start"):
    """A starting value that the scenario gives reaches only one framework's net."""

    name: str
    framework: Framework


class ReturnedClass(msgspec.Struct, frozen=True, tag_field="fact", tag="returned_class"):
    """MindSpore's net returns tensors in a class with fields."""

    name: str


class Unmet(msgspec.Struct, frozen=True, tag_field="fact", tag="unmet"):
    """The scenario expects a finding about these names, which there is not; ``reason`` is its own."""

    names: tuple[str, ...]
    reason: str


class SameMasks(msgspec.Struct, frozen=True, tag_field="fact", tag="same_masks"):
    """Dropout layers use the same masks in both nets: their rates, by the path of the layer.

    Where one net has none, those of the other draw their own unless the scenario says otherwise.
    """

    torch: dict[str, float]
    mindspore: dict[str, float]


class PairedParameters(msgspec.Struct, frozen=True, tag_field="fact", tag="paired_parameters"):
    """Parameters of other names were paired: ``pairs`` of PyTorch's ``weights``, in some ``ways``.

    ``examples`` are MindSpore's paths of parameters or Cells, and PyTorch's names; ``others`` are
    so many more. ``difference`` is how far the outputs of both nets are from each other, relative
    to their norm, where they start alike; None where a net could not be run.
    """

    pairs: int
    weights: int
    ways: dict[str, int]
    examples: tuple[tuple[str, str], ...]
    others: int
    difference: float | None
    confirmed: bool


class PackedParameters(msgspec.Struct, frozen=True, tag_field="fact", tag="packed_parameters"):
    """A parameter of the ``holder`` is several of the other net's, one after the other.

    ``others`` more are so too. They start with equal values; whether both nets train them,
    ``compared`` says.
    """

    holder: Framework
    whole: str
    parts: tuple[str, ...]
    others: int
    compared: bool


class LoneWeights(msgspec.Struct, frozen=True, tag_field="fact", tag="lone_weights"):
    """Only one framework's net trains these weights, of which ``biases`` are biases."""

    names: tuple[str, ...]
    biases: int
    framework: Framework


class IllConditioned(msgspec.Struct, frozen=True, tag_field="fact", tag="ill_conditioned"):
    """An op multiplies rounding ``factor`` times: from ``entering`` to ``leaving``, shares of the values.

    ``others`` more ops of its line do so too.
    """

    place: Place
    engine: str
    factor: float
    entering: float
    leaving: float
    others: int = 0


class NoiseUnknown(msgspec.Struct, frozen=True, tag_field="fact", tag="noise_unknown"):
    """The noise of a framework was not measured, with the ``error`` that says why."""

    framework: Framework
    error: Failure


class RecordedOtherwise(msgspec.Struct, frozen=True, tag_field="fact", tag="recorded_otherwise"):
    """Recording a graph changed an engine's result: by how much, by the leaf; inf where one is not finite.

    ``is_altered`` says that it changed by more than rounding: the graph shows another computation
    than that of the plain call.
    """

    engine: str
    sizes: dict[str, float]
    is_altered: bool = False


class RandomDraw(msgspec.Struct, frozen=True, tag_field="fact", tag="random_draw"):
    """An op draws random numbers, on which some ``results`` depend in every engine.

    ``others`` more ops of the engine draw too.
    """

    place: Place
    engine: str
    results: tuple[str, ...]
    others: int = 0


class MadeOf(msgspec.Struct, frozen=True):
    """An input of an op, and its element there; None where that is not known."""

    place: Place
    number: float | None = None


class NonFinite(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="non_finite"):
    """The first value that is not finite on the way to some results: "nan", "inf" or "-inf".

    It is "unknown" where not all elements are known. ``maker`` made it of finite ``inputs``, or
    is the input that brings it. ``turned`` is the op that makes nan of an infinity. ``outputs`` and
    ``gradients`` are the results; ``are_outputs_finite`` says whether no output at all is one.
    """

    engines: tuple[str, ...]
    value: str
    maker: Place
    is_input: bool
    inputs: tuple[MadeOf, ...] = ()
    turned: Place | None = None
    outputs: tuple[str, ...] = ()
    gradients: tuple[str, ...] = ()
    are_outputs_finite: bool = False


class SilentBroadcast(msgspec.Struct, frozen=True, tag_field="fact", tag="silent_broadcast"):
    """An op on the way to a loss that broadcasts two ``shapes``, (n, 1) and (n,), to (n, n)."""

    place: Place
    engine: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]


class OwnConvention(msgspec.Struct, frozen=True, tag_field="fact", tag="own_convention"):
    """An op whose gradient is that of a larger function by convention; ``known`` says of which."""

    place: Place
    engine: str
    known: Reference


class EqualElements(msgspec.Struct, frozen=True, tag_field="fact", tag="equal_elements"):
    """Inputs all of whose elements are one number: that number, by the input's name."""

    numbers: dict[str, float]


class Omitted(msgspec.Struct, frozen=True, tag_field="fact", tag="omitted"):
    """A framework's net returns objects in which no tensor is found: the class of each, by its key."""

    framework: Framework
    classes: dict[str, str]


class ZeroGradients(msgspec.Struct, frozen=True, tag_field="fact", tag="zero_gradients"):
    """The gradients of ``names`` are exactly 0 in every engine, and the parameters ``zeros`` start as 0.

    ``agree_elsewhere`` says that the engines agree from a start without these zeros too.
    """

    names: tuple[str, ...]
    zeros: tuple[str, ...]
    agree_elsewhere: bool = False


class HiddenByZeros(msgspec.Struct, frozen=True, tag_field="fact", tag="hidden_by_zeros"):
    """Two engines that agree from a start of ``zeros`` have a divergence from one without them."""

    zeros: ZeroGradients
    engines: tuple[str, str]
    divergence: Divergence


Fact = (
    OtherRole
    | LoneWeight
    | LoneIntegers
    | LoneStart
    | ReturnedClass
    | Unmet
    | LoneWeights
    | PairedParameters
    | PackedParameters
    | SameMasks
    | IllConditioned
    | NoiseUnknown
    | RecordedOtherwise
    | RandomDraw
    | NonFinite
    | SilentBroadcast
    | OwnConvention
    | EqualElements
    | Omitted
    | ZeroGradients
    | HiddenByZeros
)
"""What was found."""

KINDS: dict[type[Fact], FindingKind] = {
    OtherRole: "role",
    LoneWeight: "role",
    LoneIntegers: "role",
    LoneStart: "start",
    ReturnedClass: "output",
    Unmet: "missing",
    LoneWeights: "role",
    PairedParameters: "names",
    PackedParameters: "names",
    SameMasks: "masks",
    IllConditioned: "conditioning",
    NoiseUnknown: "noise",
    RecordedOtherwise: "recording",
    RandomDraw: "draws",
    NonFinite: "non_finite",
    SilentBroadcast: "broadcast",
    OwnConvention: "convention",
    EqualElements: "equal",
    Omitted: "omitted",
    ZeroGradients: "zeros",
    HiddenByZeros: "hidden",
}
"""The kind of finding that each fact is."""


class ReportFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Something about the nets that a reader should know before the gradients.

    ``names`` are those of the parameters or modules concerned, as in PyTorch; a remark's are its
    own net's. A finding that is not ``expected`` counts as an unexpected difference, unless it is a
    remark; ``reason`` says why one is expected.
    """

    fact: Fact
    names: tuple[str, ...] = ()
    expected: bool = False
    reason: str = ""

    @property
    def kind(self) -> FindingKind:
        """The kind of finding that its fact is."""
        return KINDS[type(self.fact)]

    @property
    def is_remark(self) -> bool:
        """Whether it is worth knowing, and nothing to mend."""
        return self.kind in REMARKS

    @property
    def is_alarm(self) -> bool:
        """Whether it counts as an unexpected difference."""
        return not (self.expected or self.is_remark)
