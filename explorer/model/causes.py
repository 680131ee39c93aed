"""Why two ops give different values for equal inputs: what was tried, and what explains it."""

import math
from typing import Literal

import msgspec

from explorer.model.arrays import Array
from explorer.model.divergence import Place, Places
from explorer.model.graph import Arguments, GradGraph, Layer, Output, SideName
from explorer.model.requests import CaseRequest

Inserted = Literal[
    "mul",
    "add",
    "sub",
    "function",
    "temper",
    "cast",
    "not",
    "transpose",
    "swap_axes",
    "regroup",
    "roll",
    "flip",
    "rows",
    "blocks",
    "fill",
    "where",
    "pad",
    "reshape",
]
"""An operator that may be inserted."""

LAYOUTS: frozenset[Inserted] = frozenset({"transpose", "regroup", "roll", "flip", "rows", "blocks"})
"""Those that put the same numbers at other places."""


FactorForm = Literal["", "n", "1/n", "√n", "1/√n", "1-p", "1/(1-p)", "p"]
"""What a number may be of a size n or of a probability p; "" where nothing is known."""


class Factor(msgspec.Struct, frozen=True):
    """A number that stands for something: ``form`` of ``of``, "1/√n" of 64."""

    value: float
    form: FactorForm = ""
    of: float = 0.0


# What may be read in the place of an input


class FromSlot(msgspec.Struct, frozen=True, tag="slot"):
    """What the op reads in another place among its inputs."""

    slot: int


class FromNode(msgspec.Struct, frozen=True, tag="node"):
    """Another value of the graph, output ``output`` of ``node``; its name, or its op and line, is the label.

    Of an op that is computed again itself, it is what that yields then. The op of the other side reads
    that value where it ``is_read_there``.
    """

    node: str
    output: int = 0
    label: str = ""
    is_read_there: bool = False


class FromThere(msgspec.Struct, frozen=True, tag="other_side"):
    """A value of the other side, such as a constant or a leaf; None where the name alone is kept."""

    label: str
    value: Array | None = None


class Zeros(msgspec.Struct, frozen=True, tag="zeros"):
    """Zeros, in the place of a leaf or of what an op fills with a number (``is_filled``)."""

    label: str
    is_filled: bool = False


class FromLeaf(msgspec.Struct, frozen=True, tag="leaf"):
    """Another leaf, of that name: both are one tensor, or this one is read in the place of the other."""

    name: str
    is_one_tensor: bool = False


Source = FromSlot | FromNode | FromThere | Zeros | FromLeaf


# Edits: what changes a graph so that an op has the other side's value. Where the node is "", an edit is of
# the op of its cause.


class SetArguments(msgspec.Struct, frozen=True, kw_only=True, tag="set_arguments"):
    """``arguments`` of an op in the place of its ``own``."""

    node: str = ""
    own: Arguments = {}
    arguments: Arguments


class ReplaceOperator(msgspec.Struct, frozen=True, kw_only=True, tag="replace_operator"):
    """Another operator in the place of an op, with ``arguments`` where the op has none like them."""

    node: str = ""
    op: str
    arguments: Arguments = {}


class RemoveOperator(msgspec.Struct, frozen=True, kw_only=True, tag="remove_operator"):
    """No op: what reads it goes on with one of the tensors that it reads, by its place among them.

    Where the other side comes behind that to the same parameter, or to an op of the kind, it does so
    ``later``: to what is called so, at that line.
    """

    node: str = ""
    hands_on: int = 0
    later: Place | None = None


class InsertOperator(msgspec.Struct, frozen=True, kw_only=True, tag="insert_operator"):
    """An operator on inputs of an op, by their places ``slots``, or behind the op where there are none.

    "mul", "add" and "sub" compute with the ``factor``, or with the leaf or the op's value of that ``name``;
    "function" is that of the ``name``; "temper" multiplies the logits of a softmax by the ``factor``; "cast"
    goes through the dtype of that ``name``; "not" inverts a condition. "transpose" puts the axes in the
    order ``numbers``; "swap_axes" exchanges two; "regroup" reshapes to ``shape``, puts its axes in the order
    ``numbers`` and reshapes again. The ``numbers`` of "roll" are an axis and its steps, and so on for each
    axis; of "flip" the axes; of "rows" and "blocks" an axis, and the order along it of its elements, or of
    so many equal parts. "fill" sets so many elements (``numbers``) to the ``factor``; "where" takes of so
    many elements those, so many (``numbers``), for which the condition of the ``name`` holds. "pad" adds so
    many elements (``numbers``), each the ``factor``, at the two ends of each of the last axes, in the place
    of the op's own padding; "reshape" gives the ``shape``.
    """

    node: str = ""
    op: Inserted
    slots: tuple[int, ...] = ()
    factor: Factor | None = None
    name: str = ""
    numbers: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()

    @property
    def number(self) -> float:
        """The value of the factor; 0 where there is none."""
        return self.factor.value if self.factor else 0.0


class Rewire(msgspec.Struct, frozen=True, kw_only=True, tag="rewire"):
    """Another value as an input of an op, by its places ``slots``; () of an input that is not known.

    ``label`` names the op, where it is not that of the cause.
    """

    node: str = ""
    slots: tuple[int, ...] = ()
    source: Source
    label: str = ""


Edit = SetArguments | ReplaceOperator | RemoveOperator | InsertOperator | Rewire

Edits = tuple[Edit, ...]
"""Edits that are made together."""


CONSTANTS = (math.pi, math.e, math.log(2), math.sqrt(2 / math.pi), 1.702, 1.05070099, 1.67326324)
"""Numbers that formulas have: the last ones are of GELU and SELU."""

MOST_USUAL = 64
"""Integers up to this, their parts, and the roots of both, are usual."""


def is_usual(number: float) -> bool:
    """Whether a number is one that people write, up to a part in a million: 2, 0.3, 1e-5, 1/3, √2, π."""
    size = abs(number)
    if not size or not math.isfinite(size):
        return True
    wholes = [it for it in (size, 1 / size, size**2, 1 / size**2) if 0.5 < it <= MOST_USUAL + 0.5]
    are_whole = any(math.isclose(it, round(it), rel_tol=1e-6) for it in wholes)
    has_two_digits = math.isclose(size, float(f"{size:.1e}"), rel_tol=1e-6)
    return (
        are_whole or has_two_digits or any(math.isclose(size, it, rel_tol=1e-6) for it in CONSTANTS)
    )


Form = Literal["arguments", "operator", "order", "inputs", "value", "removed", "removed_op"]
"""What edits are together.

"arguments": other ones of an op, whose inputs may be the other side's. "operator": another one. "order":
two ops in the opposite order. "inputs": other inputs. "value": something made of its value. "removed": no
such op. "removed_op": the same of an op that does what the edit behind that says.
"""


def form_of(edits: Edits) -> Form:
    """What some edits are together."""
    first, last = edits[0], edits[-1]
    match first:
        case RemoveOperator():
            return "removed" if first is last else "removed_op"
        case ReplaceOperator():
            return "operator"
        case SetArguments():
            return "arguments"
    if any(isinstance(edit, Rewire) and edit.label for edit in edits):
        return "order"
    if isinstance(last, SetArguments):
        return "arguments" if isinstance(first, Rewire) else "inputs"
    return "inputs" if first.slots else "value"


class Trial(msgspec.Struct, frozen=True):
    """Ops in a ``row``, by their ids, computed again from their recorded inputs, with ``edits``.

    Those behind the first get what changed; the outputs are those of the last. Where it ``is_state``, each
    of them writes to what the one before has written. Without edits they are computed as they were.
    """

    row: tuple[str, ...]
    edits: Edits = ()
    is_state: bool = False

    def at(self, node: str) -> Edits:
        """The edits of one op."""
        return tuple(edit for edit in self.edits if edit.node == node)


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
    device: str = "cpu"


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


Proven = Literal["computed_again", "recorded_values"]
"""How edits are known to give the other side's value.

"computed_again": the op was computed again with them. "recorded_values": it follows from the values that
both engines recorded.
"""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """What explains a divergence.

    With the ``edits`` the op of ``side`` gives what the other side has: the two then differ by
    ``greatest`` at most, where rounding moves the value by ``noise`` (None where it was not measured).
    ``layers`` are those that the two ops run in, the left one first. ``tried`` counts all that was
    tried. ``mends`` say what to write in either net, as far as the table of correspondences knows it.
    ``also_at`` are further places where the same edits were tried and give the other side's value.
    ``source`` is the line of the op where it is another one than that of the divergence. They give the
    value of the op ``within`` the other side's row, from which that side computes its own; "" of its last.
    """

    side: SideName
    node: str
    op: str
    source: str = ""
    edits: Edits
    proven: Proven
    greatest: float
    noise: float | None
    layers: tuple[Layer | None, Layer | None]
    tried: int
    mends: tuple[Mend, ...] = ()
    also_at: tuple[Places, ...] = ()
    within: str = ""

    @property
    def form(self) -> Form:
        """What the edits are together."""
        return form_of(self.edits)

    @property
    def is_relation(self) -> bool:
        """Whether the values are related by an arbitrary number, which is worth telling and no cause."""
        first = self.edits[0]
        if self.form != "value" or not isinstance(first, InsertOperator):
            return False
        factor = first.factor if first.op in ("mul", "add", "temper") else None
        return factor is not None and not factor.form and not is_usual(factor.value)

    @property
    def is_opposite(self) -> bool:
        """Whether the edits give a condition that holds where the other side's does not."""
        last = self.edits[-1]
        return self.form == "arguments" and isinstance(last, InsertOperator) and last.op == "not"

    @property
    def changed(self) -> SetArguments | None:
        """The arguments that explain it; None where something else does."""
        found = (edit for edit in self.edits if isinstance(edit, SetArguments))
        return next(found, None) if self.form == "arguments" else None

    @property
    def own(self) -> Arguments:
        """The arguments of the op that others take the place of."""
        return self.changed.own if self.changed else {}

    @property
    def arguments(self) -> Arguments:
        """The arguments with which it gives the other side's value."""
        return self.changed.arguments if self.changed else {}

    @property
    def other_op(self) -> str:
        """The operator that gives it; "" where something else does."""
        (first, *_) = self.edits
        return first.op if isinstance(first, ReplaceOperator) else ""


class Attempt(msgspec.Struct, frozen=True):
    """Edits of an ``op`` that were tried: the value is then ``apart`` from the other side's at most."""

    op: str
    edits: Edits
    apart: float


class Attempts(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried where two graphs have different values, first of all at an op of ``side``.

    ``tried`` counts all that was tried, ``not_computed`` that with which the op raises or has no value to
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
