"""What the explorer found out about two nets beside their gradients: a mistake, a limit, a remark."""

from typing import Literal

import msgspec

from explorer.model.divergence import Place
from explorer.model.engines import Framework
from explorer.model.failures import Failure
from explorer.model.requests import Role

FindingKind = Literal[
    "role", "start", "output", "missing", "conditioning", "masks", "noise", "recording", "names"
]
"""A kind of finding.

- "role": one net trains what the other holds frozen, as a buffer, as a plain tensor, or not at all
- "start": a starting value that the scenario gives reaches one net alone
- "output": a net returns tensors in a container through which MindSpore takes no gradient
- "missing": the scenario expects a finding that there is not
- "masks": the dropout layers of both nets drop by the same draws
- "noise": a worker was lost while it measured noise, and tolerances alone say what differs
- "recording": a graph was recorded with other last digits than the plain call has
- "names": parameters of other names were paired by order and values, or start as parts of one
- "conditioning": an op multiplies rounding, so that few digits of its values mean anything
"""

REMARKS: frozenset[FindingKind] = frozenset(
    {"conditioning", "masks", "noise", "recording", "names"}
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
    """Dropout layers use the same masks in both nets: their rates, by the path of the layer."""

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
    """The worker that measured a framework's noise was lost, with the ``error`` of that."""

    framework: Framework
    error: Failure


class RecordedOtherwise(msgspec.Struct, frozen=True, tag_field="fact", tag="recorded_otherwise"):
    """Recording a graph changed an engine's result: by how much, by the leaf; inf where one is not finite."""

    engine: str
    sizes: dict[str, float]


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
