"""What is tried where two ops give different values for equal inputs: edits of one graph.

They are guessed freely, from what the other side's ops and layers were given: each is tried, and only one
that gives the other side's value is a cause.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from explorer.compare.causes.arguments import (
    ArgumentChanges,
    argument_changes,
    padded,
    set_arguments,
    slices,
)
from explorer.compare.causes.inputs import (
    elsewhere,
    input_edits,
    inputs_of_there,
    label_of,
    leaves_of,
    of_other_leaves,
    op_label,
    other_constants,
)
from explorer.compare.causes.kinds import REDUCTIONS, SELECT
from explorer.compare.causes.rows import Ends, does_the_same, ends_at, is_of_form, longer_ends
from explorer.compare.graphs.sameness import are_equal, numbers_of
from explorer.compare.graphs.view import MOVES, GraphView, Shape
from explorer.model.causes import (
    Edits,
    FromNode,
    InsertOperator,
    RemoveOperator,
    ReplaceOperator,
    Rewire,
    Trial,
    Zeros,
    form_of,
)
from explorer.model.divergence import Divergence, LoneLeaf
from explorer.model.engines import engine_named
from explorer.model.graph import Arguments, ArgumentValue, Node, Output, SideName
from explorer.operators.families import family
from explorer.operators.table import alternatives


class Suspect(NamedTuple):
    """An op that can be computed in other ways, its own value, and the one that it should then have.

    ``other`` is the op of the other side. ``trials`` begin with none that changes anything; those of a later
    op of a row as well: where other values were put in, it does not read what the row makes. What gives
    one of the values ``further`` on there does as well: the other side may come to it in more ops.
    Operators that are ``not_there``, each in the place of an op, may give the value, and are no cause.
    """

    side: SideName
    node: Node
    other: Node
    own: Output
    target: Output
    trials: tuple[Trial, ...]
    further: tuple[Output, ...] = ()
    not_there: frozenset[tuple[str, str]] = frozenset()


FEW = 4
"""Fewer different numbers may be chance; so many ops are compared that may be a counterpart."""

FURTHER = 16
"""So many values of the other side behind a divergence are looked at."""

MOST_OPS = 8
"""No op of a longer row is tried by itself."""


def of_one_step(suspect: Suspect, flow: GraphView) -> Suspect:
    """A suspect that is not tried with what another step of a loop gave in the place of an input."""
    lines = {(read.op, read.source) for read in flow.origins(suspect.node) if read.kind == "op"}

    def is_of_other_step(trial: Trial) -> bool:
        read = (flow.nodes.get(source.node) for source in other_values(trial.edits))
        return any(node is not None and (node.op, node.source) in lines for node in read)

    trials = tuple(trial for trial in suspect.trials if not is_of_other_step(trial))
    return suspect._replace(trials=trials)


def other_values(edits: Edits) -> list[FromNode]:
    """The values of the graph that edits put in the place of inputs; none where two ops are exchanged."""
    sources = [edit.source for edit in edits if isinstance(edit, Rewire)]
    if not sources or form_of(edits) == "order":
        return []
    return [source for source in sources if isinstance(source, FromNode)]


def suspects_at(divergence: Divergence, left: GraphView, right: GraphView) -> tuple[Suspect, ...]:
    """What can be tried at a divergence, what PyTorch has there before what MindSpore has."""
    both = ends_at(divergence, left, right)
    of_torch_first = sorted(
        both, key=lambda it: engine_named(it.here.graph.engine).framework != "torch"
    )
    suspects = [_suspect(ends) for ends in of_torch_first]
    suspects += [_in_other_order(ends) for ends in both]
    suspects += [_suspect(ends) for ends in longer_ends(divergence, both, left, right)]
    if isinstance(divergence, LoneLeaf):
        suspects += _without_leaf(divergence, left, right)
    return tuple(suspect for suspect in suspects if suspect is not None)


def _suspect(ends: Ends) -> Suspect | None:
    """What can be tried at one end of a divergence; None where nothing can."""
    last = ends.own_row[-1]
    own = _value(ends.here, last, ends.result)
    target = _value(ends.there, ends.row[-1], ends.result)
    if own is None or target is None:
        return None
    if ends.is_state:
        trials = list(_of_a_state(ends, target))
    elif ends.is_extra or len(ends.own_row) > 1:
        trials = list(_in_a_row(ends, target))
    else:
        spot = Spot(ends, last, target)
        trials = [Trial((last.id,), edits) for edits in edits_at(spot, "alone")]
    if not trials:
        return None
    unchanged = Trial(tuple(node.id for node in ends.own_row), is_state=ends.is_state)
    has_further = not (ends.is_extra or ends.result)
    further = tuple(islice(_further(ends, own, target), FURTHER)) if has_further else ()
    not_there = _not_there(ends, trials)
    return Suspect(
        ends.side, last, ends.row[-1], own, target, (unchanged, *trials), further, not_there
    )


def _value(flow: GraphView, node: Node, result: str) -> Output | None:
    """The main output of a node, or the result of that name."""
    if not result:
        return node.main
    for other in flow.graph.nodes:
        if other.kind == "output" and other.name == result:
            return other.outputs[0]
    return None


def _further(ends: Ends, own: Output, target: Output) -> Iterator[Output]:
    """What the other side makes of its first op, as large as an op's own value, the nearest first.

    What is known here is no such value: with an op left out, or nothing changed, that is given too.
    """
    known = [own, *(it for node in ends.own_row for it in ends.here.tensors(node).values())]
    # Where both sides do the same last, the other side's steps ahead of it are its own.
    does_the_same = family(ends.own_row[-1].op) == family(ends.row[-1].op)
    first = ends.row[-1 if does_the_same else 0]
    behind = ends.there.behind(first.id)
    for node in ends.there.graph.nodes:
        if node.id not in behind or node.kind != "op" or node.phase != first.phase:
            continue
        for value in node.outputs[:1]:
            numbers = numbers_of(value)
            if value.shape != own.shape or value is target or numbers is None:
                continue
            # Zeros and ones, such as labels, are given by chance.
            if numbers.size > 1 and np.unique(numbers).size < FEW:
                continue
            if not any(are_equal(value, other) for other in known):
                yield value


# What is tried with an op: a table of candidates


class Spot:
    """An op at which edits are tried, with what is compared there and the value that it should have."""

    def __init__(self, ends: Ends, node: Node, target: Output) -> None:
        self.ends = ends
        self.node = node
        self.target = target
        self.here = ends.here

    @cached_property
    def arguments(self) -> ArgumentChanges:
        """Other arguments that the op may have."""
        return argument_changes(self.node.arguments, _pool(self.ends), _rank(self.here, self.node))

    @property
    def shape(self) -> Shape:
        """The shape of the value that it should have, as the op would yield it."""
        return self.here.own_shape(self.node, self.target.shape)


Where = Literal["alone", "row", "extra"]
"""An op by itself, one of a row that is computed again, or one of a row that one side alone has."""


class Candidate(NamedTuple):
    """Edits that may explain a value: where they are tried, what makes them, and for which mistakes."""

    at: frozenset[Where]
    edits: Callable[[Spot], Iterator[Edits]]
    mistakes: str


def _one_argument(spot: Spot) -> Iterator[Edits]:
    for change in spot.arguments.single:
        yield (set_arguments(spot.node, change),)


def _other_elements(spot: Spot) -> Iterator[Edits]:
    read = spot.here.own_shapes(spot.node).get(0)
    if read is not None and spot.node.outputs:
        made = spot.here.own_shape(spot.node, spot.node.outputs[0].shape)
        for change in slices(spot.node, read, made):
            yield (set_arguments(spot.node, change),)


def _removed(spot: Spot) -> Iterator[Edits]:
    # Not where the other side has as many of its kind: near 0 many an op hands on what it reads.
    # Nor where that side does its work right behind: there it is not left out, it comes later.
    node, ends = spot.node, spot.ends
    behind = ends.here.next_op(ends.own_row[-1]), ends.there.next_op(ends.row[-1])
    own, others = (
        _count(node.op, [*row, *([it] if it else [])])
        for row, it in zip((ends.own_row, ends.row), behind, strict=True)
    )
    is_more = _count(node.op, ends.own_row) > _count(node.op, ends.row)
    if node.outputs and is_more and own > others:
        for place, read in enumerate(spot.here.tensors(node).values()):
            if math.prod(read.shape) == math.prod(node.outputs[0].shape):
                yield (RemoveOperator(node=node.id, hands_on=place),)


def _replaced(spot: Spot) -> Iterator[Edits]:
    # In memory of its own: what is written in place is compared as well.
    node, plain = spot.node, spot.node.op.replace("_.default", ".default")
    for other in alternatives(plain):
        yield (ReplaceOperator(node=node.id, op=other),)
    axes = node.arguments.get("dim")
    if plain in REDUCTIONS and isinstance(axes, tuple) and len(axes) == 1:
        for index in (0, -1):
            given: Arguments = {"dim": axes[0], "index": index}
            yield (ReplaceOperator(node=node.id, op=SELECT, arguments=given),)


def _windows(spot: Spot) -> Iterator[Edits]:
    for change in spot.arguments.windows:
        yield (set_arguments(spot.node, change),)


def _other_inputs(spot: Spot) -> Iterator[Edits]:
    # Where the op behind is of the same kind, and none is there, it may be what the other side has.
    own, other = spot.ends.own_row[-1], spot.ends.row[-1]
    behind, behind_there = spot.here.next_op(own), spot.ends.there.next_op(other)
    is_done_behind = (
        behind is not None
        and family(behind.op) == family(own.op) == family(other.op)
        and (behind_there is None or family(behind_there.op) != family(own.op))
    )
    for edits in input_edits(spot.here, spot.node):
        if not (is_done_behind and other_values(edits)):
            yield edits


def _other_leaves(spot: Spot) -> Iterator[Edits]:
    ends = spot.ends
    leaves = of_other_leaves(ends.here, spot.node, ends.there, ends.row)
    if leaves:
        yield leaves
    if len(ends.row) == 1:
        for edit in other_constants(ends.here, spot.node, ends.there, ends.row[0]):
            yield (edit,)


def _two_arguments(spot: Spot) -> Iterator[Edits]:
    for change in spot.arguments.double:
        yield (set_arguments(spot.node, change),)


def _inputs_of_there(spot: Spot) -> Iterator[Edits]:
    as_there = inputs_of_there(spot.ends, spot.target)
    if as_there:
        yield as_there
        for change in spot.arguments.single:
            if all(isinstance(value, float) for value in change.values()):
                yield *as_there, set_arguments(spot.node, change)


def _padded(spot: Spot) -> Iterator[Edits]:
    yield from padded(spot.node, spot.here.own_shapes(spot.node), spot.shape)


def _inverted(spot: Spot) -> Iterator[Edits]:
    for slot, read in spot.here.tensors(spot.node).items():
        if read.dtype == "bool":
            yield (InsertOperator(node=spot.node.id, op="not", slots=(slot,)),)


def _halves_exchanged(spot: Spot) -> Iterator[Edits]:
    for slot, read in spot.here.tensors(spot.node).items():
        for axis, length in enumerate(read.shape):
            if length > 2 and length % 2 == 0:
                numbers = axis, length // 2
                roll = InsertOperator(node=spot.node.id, op="roll", slots=(slot,), numbers=numbers)
                yield (roll,)


def _from_zeros(spot: Spot) -> Iterator[Edits]:
    for edge in spot.here.into(spot.node):
        origin = spot.here.nodes[edge.origin]
        is_filled = origin.kind == "op" and family(origin.op) == "fill" and origin.outputs
        numbers = numbers_of(origin.outputs[0]) if is_filled else None
        if numbers is not None and numbers.any():
            zeros = Zeros(label_of(origin), is_filled=True)
            yield (Rewire(node=spot.node.id, slots=(edge.input,), source=zeros),)


def _weights_elsewhere(spot: Spot) -> Iterator[Edits]:
    if family(spot.node.op) in OF_WEIGHTS:
        leaves = leaves_of(spot.here, [spot.node])
        for slot, read in spot.here.tensors(spot.node).items():
            if slot in leaves:
                yield from elsewhere(spot.node, slot, read.shape)


OF_WEIGHTS = frozenset({"matmul", "conv", "convgrad"})
"""Families of ops that read a weight, which may lie in another layout."""

ALONE, IN_A_ROW, EVERYWHERE = (
    frozenset[Where](it) for it in (("alone",), ("row",), ("alone", "row"))
)

CANDIDATES: list[Candidate] = [
    Candidate(EVERYWHERE, _one_argument, "an eps, an axis, a momentum, a mode, a reduction"),
    Candidate(EVERYWHERE, _other_elements, "the other half, every second element, one place off"),
    Candidate(EVERYWHERE, _removed, "an op too many"),
    Candidate(EVERYWHERE, _replaced, "another activation, loss, reduction or kind of pooling"),
    Candidate(EVERYWHERE, _windows, "padding with stride or dilation"),
    Candidate(EVERYWHERE, _inverted, "a mask of the opposite sense"),
    Candidate(ALONE, _other_inputs, "inputs exchanged, another value, a factor, a cast, a layout"),
    Candidate(EVERYWHERE, _halves_exchanged, "a gate that is the other half of what it reads"),
    Candidate(ALONE, _other_leaves, "another weight, bias or constant"),
    Candidate(ALONE, _two_arguments, "two arguments of one op"),
    Candidate(ALONE, _inputs_of_there, "an eps behind other mistakes that are too small to tell"),
    Candidate(ALONE, _padded, "padding of one end, as the mode same makes it"),
    Candidate(IN_A_ROW | {"extra"}, _from_zeros, "a state that starts at other numbers"),
    Candidate(IN_A_ROW, _weights_elsewhere, "a weight in another layout"),
]
"""What is tried, what comes first first: of many divergences only the beginning is tried."""


def edits_at(spot: Spot, where: Where) -> Iterator[Edits]:
    """All edits that are tried at an op."""
    for candidate in CANDIDATES:
        if where in candidate.at:
            yield from candidate.edits(spot)


def _in_a_row(ends: Ends, target: Output) -> Iterator[Trial]:
    """Each op of a row edited, and those behind it computed again."""
    row = ends.own_row if len(ends.own_row) <= MOST_OPS else []
    for place, node in enumerate(row[:1] if ends.first_alone else row):
        again = tuple(later.id for later in row[place:])
        if place and not ends.is_extra:
            yield Trial(again)
        for edits in edits_at(Spot(ends, node, target), "extra" if ends.is_extra else "row"):
            yield Trial(again, edits)


def _of_a_state(ends: Ends, target: Output) -> Iterator[Trial]:
    """Ops that write to one state: other arguments of all of them, and the first ones left out."""
    row = tuple(node.id for node in ends.own_row)
    first = ends.own_row[0]
    for change in Spot(ends, first, target).arguments.single:
        edits = tuple(set_arguments(node, change) for node in ends.own_row)
        yield Trial(row, edits, is_state=True)
    yield Trial(row, (RemoveOperator(node=first.id),), is_state=True)


def _count(op: str, row: list[Node]) -> int:
    """How many ops of a row are of an operator's kind: a root, or 1 by it."""
    kinds = [family(it).replace("rsqrt", "sqrt") for it in (op, *(node.op for node in row))]
    return kinds.count(kinds[0]) - 1


def _not_there(ends: Ends, trials: Iterable[Trial]) -> frozenset[tuple[str, str]]:
    """The ops, each with an operator tried in its place, of whose kind the other side has as many.

    And of the operator's kind none: beside zeros a sum is a difference.
    """
    ops = {node.id: node.op for node in ends.own_row}
    replaced = [it for trial in trials for it in trial.edits if isinstance(it, ReplaceOperator)]
    return frozenset(
        (edit.node, edit.op)
        for edit in replaced
        if _count(ops[edit.node], ends.own_row) <= _count(ops[edit.node], ends.row)
        and _count(edit.op, ends.row) == 0
    )


def _rank(flow: GraphView, node: Node) -> int:
    """The most axes of what a node reads and yields."""
    outputs = [output for one in (node, *flow.origins(node)) for output in one.outputs[:1]]
    return max((len(output.shape) for output in outputs), default=0)


def _pool(ends: Ends) -> list[ArgumentValue]:
    """What the ops of the other side and the layers of both sides were given, constants too."""
    pool: list[ArgumentValue] = []
    for node in ends.row:
        pool += node.arguments.values()
    pool += _constants(ends.there, ends.row)
    scopes = {node.scope for node in (*ends.row, *ends.own_row)}
    for flow in (ends.there, ends.here):
        layers = flow.graph.layers
        for scope in sorted(scopes & layers.keys()):
            pool += layers[scope].settings.values()
    return pool


def _constants(flow: GraphView, row: list[Node]) -> Iterator[float | int]:
    """The single numbers that some ops read as constants."""
    for edge in (edge for node in row for edge in flow.into(node)):
        origin = flow.nodes[edge.origin]
        if origin.kind == "constant" and edge.output < len(origin.outputs):
            value = numbers_of(origin.outputs[edge.output])
            if value is not None and value.size == 1:
                number = float(value.ravel()[0])
                yield number
                if number.is_integer():
                    yield int(number)


# Two ops in the opposite order

NORMS = frozenset({"layernorm", "groupnorm"})
"""Families of norms that are the same where one axis is left."""

MOST_BETWEEN = 2
"""So many ops may stand between two that are in the opposite order."""


def _in_other_order(ends: Ends) -> Suspect | None:
    """Two ops in the opposite order, where the other side has them so; a few may stand between them.

    None where the two sides do not have the same two kinds of ops: the other one has them as the ends
    of its row, as its only op and the one behind it, or as its only op and the one before it. Of two ops
    which the other side writes out in more, any kinds are tried.
    """
    here, there, row = ends.here, ends.there, ends.row
    node = ends.own_row[0]
    before: Node | None = node
    for _ in range(MOST_BETWEEN + 1):
        second = here.next_op(before, MOVES) if before else None
        if second is not None and before is not None and _kind(node) != _kind(second):
            other_second = _second(there, row, (_kind(second), _kind(node)))
            if other_second is not None:
                return _exchanged(ends, before, second, other_second)
        before = second
    if len(ends.own_row) == 2 < len(row) and here.next_op(node, MOVES) is ends.own_row[1]:
        return _exchanged(ends, node, ends.own_row[1], row[-1])
    return None


def _exchanged(ends: Ends, before: Node, second: Node, other_second: Node) -> Suspect | None:
    """The second of two ops, computed from what the first one reads, and the first of what that yields.

    ``before`` is the last op ahead of the second one.
    """
    here, node = ends.here, ends.own_row[0]
    slots = [edge.input for edge in here.into(second) if here.is_handed_on(edge.origin, before)]
    numbers = [it for it in other_second.arguments.values() if isinstance(it, float)]
    changed: list[Arguments] = [{}]
    # Each number of the first one, such as its eps, with those of the other side's in its place.
    for name, own in node.arguments.items():
        if isinstance(own, float):
            changed += [{name: number} for number in numbers if number != own]
    trials = []
    for read in here.into(node) if slots else ():
        ahead = Rewire(node=second.id, slots=(slots[0],), source=FromNode(read.origin, read.output))
        label = op_label(node)
        behind = Rewire(node=node.id, slots=(read.input,), source=FromNode(second.id), label=label)
        for change in changed:
            edits: Edits = (ahead, behind)
            if change:
                edits = (*edits, set_arguments(node, change))
            trials.append(Trial((second.id, node.id), edits))
    return _beside(ends.side, second, other_second, trials)


def _second(flow: GraphView, row: list[Node], kinds: tuple[str, str]) -> Node | None:
    """The second of two ops of some kinds in a row, or around its only op."""
    if len(row) > 1:
        seconds = [it for it in row[1:] if _kinds(row[0], it) == kinds]
        return seconds[-1] if seconds else None
    (node,) = row
    behind = flow.next_op(node, MOVES)
    if _kinds(node, behind) == kinds:
        return behind
    return node if _kinds(flow.previous_op(node, MOVES), node) == kinds else None


def _kinds(first: Node | None, second: Node | None) -> tuple[str, str]:
    return _kind(first) if first else "", _kind(second) if second else ""


def _kind(node: Node) -> str:
    """The family of an op; one for all norms, which are the same where one axis is left.

    The maximum of a value and 0 is relu.
    """
    found = family(node.op)
    if found == "max" and 0.0 in node.arguments.values():
        return "relu"
    return "norm" if found in NORMS else found


# A leaf that one side alone has


def _without_leaf(
    divergence: LoneLeaf, left: GraphView, right: GraphView
) -> Iterator[Suspect | None]:
    """What reads a leaf, with zeros in its place, beside the ops that may do the same without it."""
    here, there = (left, right) if divergence.side == "left" else (right, left)
    leaf = divergence.nodes[0 if divergence.side == "left" else 1]
    for edge in here.out_of(here.nodes[leaf]) if leaf else ():
        user = here.nodes[edge.target]
        if user.kind != "op":
            continue
        zeros = Rewire(node=user.id, slots=(edge.input,), source=Zeros(divergence.name))
        families = {family(it.op) for it in (user, *here.origins(user)) if it.kind == "op"}
        # What an op of the user's kind reads may have its own value for the leaf there.
        alike = [
            it
            for it in there.graph.nodes
            if is_of_form(it, user)
            and family(it.op) in families
            and not does_the_same(there, it, user)
        ]
        alike.sort(key=lambda it: abs(it.order - user.order))
        for other in alike[:FEW]:
            yield _beside(divergence.side, user, other, [Trial((user.id,), (zeros,))])


def _beside(side: SideName, node: Node, other: Node, trials: list[Trial]) -> Suspect | None:
    """An op beside one of the other side, by their first outputs."""
    if not (node.outputs and other.outputs):
        return None
    values = node.outputs[0], other.outputs[0]
    return Suspect(side, node, other, *values, (Trial((node.id,)), *trials))
