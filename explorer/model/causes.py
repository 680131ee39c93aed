"""Why two ops give different values for equal inputs: what was tried, and what explains it."""

from typing import Literal

import msgspec

from explorer.model.arrays import Array
from explorer.model.divergence import Place, Places
from explorer.model.graph import OTHER, Arguments, GradGraph, Layer, Output, SideName
from explorer.model.requests import CaseRequest

InputHow = Literal[
    "swapped",
    "replaced",
    "ahead",
    "transposed",
    "scaled",
    "rounded",
    "rolled",
    "reversed",
    "padded",
    "padded_below",
    "zeroed",
    "from_zeros",
    "given",
]
"""What may be done to an input before an op is computed."""


class InputChange(msgspec.Struct, frozen=True):
    """What is done to inputs of an op before it is computed again.

    ``slots`` count from 0 among the tensors that the op is given: two where they are "swapped", else
    those that are all changed alike. ``numbers`` are the two axes of "transposed", the factor of
    "scaled", axis and steps of "rolled", the axes of "reversed", and how many elements are added at
    the two ends of each of the last axes where it is "padded", with zeros, or "padded_below", with less
    than all numbers, in the place of the op's own padding; ``dtype`` is what an input is "rounded" to.
    One is "zeroed": zeros take the place of the leaf of the name ``label``; so they do "from_zeros", of
    what an op of that ``label`` is filled with.
    One is "given": the ``value`` of a constant or a leaf of the other side, which the ``label`` names.
    One is "replaced" by another value of the graph: output ``output`` of ``node``, whose op and line
    the ``label`` has; so it is with one that is moved "ahead" of the op which reads that value, and
    which then reads what is made of it.
    """

    slots: tuple[int, ...]
    how: InputHow
    numbers: tuple[float, ...] = ()
    dtype: str = ""
    node: str = ""
    output: int = 0
    label: str = ""
    value: Array | None = None


LEFT_OUT = "left out"
"""What is tried in the place of an op that may be left out: it hands one of its inputs on."""


class Trial(msgspec.Struct, frozen=True):
    """An op to be computed again, alone, from its recorded inputs, with other ``arguments``.

    ``node`` is its id in the graph. With ``op``, that operator is computed in its place, with those of
    its inputs and arguments that it takes as well; it may be ``LEFT_OUT``, where the tensor of the
    place ``hands_on`` among its inputs is the value. ``inputs`` are changed first. ``then`` are ops behind
    it that are computed again as well, with what changed and ``then_arguments``: the outputs are those
    of the last. Where it ``is_state``, each of them writes to what the one before has written.
    Nothing of all these: it is computed as it was.
    """

    node: str
    arguments: Arguments = {}
    op: str = ""
    hands_on: int = 0
    inputs: tuple[InputChange, ...] = ()
    then: tuple[str, ...] = ()
    then_arguments: Arguments = {}
    is_state: bool = False

    @property
    def changes_nothing(self) -> bool:
        """Whether the ops are computed as they were."""
        return not (self.arguments or self.op or self.inputs or self.then_arguments)


class TrialsRequest(msgspec.Struct, frozen=True):
    """Trials on the graph that a capture of the case gives."""

    request: CaseRequest
    trials: tuple[Trial, ...]


class RecordedTrialsRequest(msgspec.Struct, frozen=True):
    """Trials on the graph of a step that was recorded elsewhere.

    ``leaves`` are the values of leaves that were kept whole, by the ids of their nodes.
    """

    graph: GradGraph
    leaves: dict[str, Array]
    trials: tuple[Trial, ...]


class Tried(msgspec.Struct, frozen=True):
    """The outputs of each trial, in their order; () of one that raised or could not be made.

    What an op writes to counts among its outputs, as the last.
    """

    outputs: tuple[tuple[Output, ...], ...]


class Mend(msgspec.Struct, frozen=True, kw_only=True):
    """What to write in the net of one side so that it does there what the other one does.

    ``call`` is a layer or a function, "nn.GELU".
    """

    side: SideName
    call: str
    arguments: Arguments


# What explains a divergence: a change with which an op gives the other side's value.


class OtherArguments(msgspec.Struct, frozen=True, kw_only=True, tag="arguments"):
    """``arguments`` in the place of an op's ``own``.

    Where it is ``from_there``, the op was computed from the other side's values of its inputs, which
    differ by little.
    """

    own: Arguments
    arguments: Arguments
    from_there: bool = False


class OtherOperator(msgspec.Struct, frozen=True, kw_only=True, tag="operator"):
    """Another operator in the place of an op, with ``arguments`` where the op has none like them."""

    op: str
    arguments: Arguments = {}


class OtherInputs(msgspec.Struct, frozen=True, kw_only=True, tag="inputs"):
    """Inputs that are changed before the op is computed.

    With an input that is moved "ahead", the op behind it may get other ``arguments`` too.
    """

    changes: tuple[InputChange, ...]
    arguments: Arguments = {}


RelationHow = Literal[
    "times",
    "plus",
    "added",
    "subtracted",
    "multiplied",
    "applied",
    "tempered",
    "rounded",
    "transposed",
    "regrouped",
    "rolled",
    "reversed",
    "rows",
    "blocks",
    "masked",
    "shared",
    "aliased",
    "exchanged",
    "mean_where",
]
"""How one value may follow from another."""

LAYOUTS: frozenset[RelationHow] = frozenset(
    {"transposed", "regrouped", "rolled", "reversed", "rows", "blocks"}
)
"""Those of the same numbers at other places."""


class Factor(msgspec.Struct, frozen=True):
    """A number that stands for something: ``form`` of ``of``, "1/√n" of 64.

    ``form`` is "" where nothing is known that it stands for.
    """

    value: float
    form: Literal["", "n", "1/n", "√n", "1/√n", "1-p", "1/(1-p)", "p"] = ""
    of: float = 0.0


class Related(msgspec.Struct, frozen=True, kw_only=True, tag="related"):
    """The other side's value follows from the op's own, by the recorded values alone.

    "times" a factor, "plus" a number; "added", "subtracted" or "multiplied": a leaf or an op's value of that
    ``name``; "applied": the function of that ``name``;
    "tempered": a softmax of its logits times the ``factor``; "rounded": through the dtype of that ``name``.
    "transposed": its axes in the order ``numbers``; "regrouped": reshaped to ``shape``, its axes in
    the order ``numbers``, reshaped again. "rolled": ``numbers`` are an axis and its steps, and so on for
    each axis; "reversed": they are the axes. With the axis as the first of them: "rows" in the order that
    follows, "blocks": as many equal parts in that order. "masked": so many elements (``numbers``) set
    to the ``factor``. "shared": of a leaf, which is read in the place of that of the ``name`` too, as
    the sum of the two gradients says. "aliased": of a leaf that is one tensor with that of the ``name``:
    both gradients are one sum. "exchanged": a sum of two products, with the factors of the ``name`` and
    the ``other`` name in the place of each other. "mean_where": the mean of so many of so many elements
    (``numbers``), those for which the condition of the ``name`` holds, where the op has that of all.
    """

    how: RelationHow
    factor: Factor | None = None
    name: str = ""
    shape: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    other: str = ""


class LeftOut(msgspec.Struct, frozen=True, kw_only=True, tag="left_out"):
    """The op, or the last of a row, has no counterpart: the other side goes on with what it reads.

    What it makes of that is the ``relation``; None where the ops behind it were computed without it:
    then these got the input of the place ``handed_on``. Where the other side computes with the same
    parameter behind that, it does so ``later``: with the parameter of that name, at that line.
    """

    relation: Related | None = None
    handed_on: int = 0
    later: Place | None = None


Change = OtherArguments | OtherOperator | OtherInputs | Related | LeftOut

Proven = Literal["computed_again", "recorded_values"]
"""How a change is known to give the other side's value.

"computed_again": the op was computed again with it, alone. "recorded_values": it follows from the
values that both engines recorded.
"""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """What explains a divergence.

    With the ``change`` the op of ``side`` gives what the other side has: the two then differ by
    ``greatest`` at most, where rounding moves the value by ``noise`` (None where it was not measured).
    ``layers`` are those that the two ops run in, the left one first. ``tried`` counts all that was
    tried. ``mends`` say what to write in either net, as far as the table of correspondences knows it.
    ``also_at`` are further places where the same change was tried and gives the other side's value.
    """

    side: SideName
    node: str
    op: str
    change: Change
    greatest: float
    noise: float | None
    layers: tuple[Layer | None, Layer | None]
    tried: int
    mends: tuple[Mend, ...] = ()
    also_at: tuple[Places, ...] = ()

    @property
    def own(self) -> Arguments:
        """The arguments of the op that others take the place of."""
        return self.change.own if isinstance(self.change, OtherArguments) else {}

    @property
    def arguments(self) -> Arguments:
        """The arguments with which it gives the other side's value."""
        return self.change.arguments if isinstance(self.change, OtherArguments) else {}

    @property
    def other_op(self) -> str:
        """The operator that gives it; "" where another change does."""
        return self.change.op if isinstance(self.change, OtherOperator) else ""

    @property
    def kind(self) -> str:
        """Which change it is: "arguments", "operator", "inputs", "related" or "left_out"."""
        return str(type(self.change).__struct_config__.tag)

    @property
    def proven(self) -> Proven:
        """How it is known that the change gives the other side's value."""
        is_seen = isinstance(self.change, Related) or (
            isinstance(self.change, LeftOut) and self.change.relation is not None
        )
        return "recorded_values" if is_seen else "computed_again"


def mirrored_cause(cause: Cause) -> Cause:
    """The same cause with the two sides exchanged."""
    mends = [msgspec.structs.replace(mend, side=OTHER[mend.side]) for mend in cause.mends]
    return msgspec.structs.replace(
        cause,
        side=OTHER[cause.side],
        layers=cause.layers[::-1],
        mends=tuple(mends[::-1]),
        also_at=tuple(places[::-1] for places in cause.also_at),
    )


class Attempt(msgspec.Struct, frozen=True):
    """A change of an ``op`` that was tried: the value is then ``apart`` from the other side's at most."""

    op: str
    change: Change
    apart: float


class Attempts(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried where two graphs have different values, first of all at an op of ``side``.

    ``tried`` counts all changes, ``not_computed`` those with which the op raises or has no value to
    compare. ``fitting`` are a few that give the other side's value, ``nearest`` a few that do not and
    undo much of the difference, the nearest first. Not ``is_repeated``: computed again with
    nothing changed, the op does not give its own value, and nothing follows from the rest.
    """

    side: SideName
    node: str
    op: str
    tried: int
    not_computed: int = 0
    fitting: tuple[Attempt, ...] = ()
    nearest: tuple[Attempt, ...] = ()
    is_repeated: bool = True


def mirrored_attempts(attempts: Attempts) -> Attempts:
    """The same attempts with the two sides exchanged."""
    return msgspec.structs.replace(attempts, side=OTHER[attempts.side])
