"""What is tried where two ops give different values for equal inputs: edits of one graph.

They are guessed freely, from what the other side's ops and layers were given: each is tried, and only one
that gives the other side's value is a cause.
"""

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from explorer.compare.causes import inputs, leaves
from explorer.compare.causes.arguments import Spot, padded, set_arguments, slices
from explorer.compare.causes.longer import (
    LONGER,
    behind_instead,
    beside_what_is_read,
    in_its_place,
    in_other_order,
    up_to_what_is_read_there,
    with_what_is_before,
)
from explorer.compare.causes.rows import (
    COMMON,
    Ends,
    Where,
    are_alike,
    are_no_counterparts,
    begin_other_formulas,
    does_the_same,
    ends_at,
    is_of_form,
    sided,
)
from explorer.compare.graphs.sameness import are_equal, numbers_of
from explorer.compare.graphs.view import GraphView, Shape
from explorer.model.causes import (
    Edit,
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
from explorer.model.divergence import Divergence, ExtraOps, LoneLeaf
from explorer.model.engines import engine_named
from explorer.model.graph import Arguments, Node, Output, SideName
from explorer.operators.families import family
from explorer.operators.table import TRIED, alternatives


class Suspect(NamedTuple):
    """An op that can be computed in other ways, its own value, and the one that it should then have.

    ``other`` is the op of the other side. ``trials`` begin with none that changes anything; those of a later
    op of a row as well: where other values were put in, it does not read what the row makes. What gives
    one of the values ``further`` on there does as well: the other side may come to it in more ops. What
    gives one of those ``within`` its row, which are named, is what differs first.
    Operators that are ``not_there``, each in the place of an op, may give the value, and are no cause.
    """

    side: SideName
    node: Node
    other: Node
    own: Output
    target: Output
    trials: tuple[Trial, ...]
    further: tuple[Output, ...] = ()
    within: tuple[tuple[str, Output], ...] = ()
    not_there: frozenset[tuple[str, str]] = frozenset()


FEW = 4
"""Fewer different numbers may be chance; so many ops are compared that may be a counterpart."""

FURTHER = 16
"""So many values of the other side behind a divergence are looked at."""

MOST_OPS = 8
"""Of a longer row the first op alone is tried by itself."""


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
    found = [source for source in sources if isinstance(source, FromNode)]
    return [] if found and form_of(edits) == "order" else found


def suspects_at(divergence: Divergence, left: GraphView, right: GraphView) -> tuple[Suspect, ...]:
    """What can be tried at a divergence, what PyTorch has there before what MindSpore has."""
    if are_no_counterparts(divergence, left, right):
        return ()
    both = ends_at(divergence, left, right)
    found = sorted(both, key=lambda it: engine_named(it.here.graph.engine).framework != "torch")
    found += filter(None, map(in_other_order, both))
    for find in LONGER:
        found += (ends for one in both for ends in find(divergence, one))
    # What one side does in one op, such as a product with its bias, reads what is read there.
    up_to = [ends for one in both for ends in up_to_what_is_read_there(divergence, one)]
    found += [ends.turned() for ends in up_to]
    found += [it for ends in up_to for it in with_what_is_before(divergence, ends)]
    if isinstance(divergence, ExtraOps):
        found += beside_what_is_read(divergence, left, right)
        found += behind_instead(divergence, left, right)
        found += in_its_place(divergence, left, right)
        of_more = [ends.turned() for ends in both if len(ends.row) > 1]
        # The op behind what one side alone has may read something else that is there.
        lasts = [ends._replace(own_row=ends.own_row[-1:]) for ends in of_more]
        # With the bias that the other side's op adds as well.
        of_more = [next(up_to_what_is_read_there(divergence, it), it) for it in of_more]
        found += [*of_more, *lasts]
    if isinstance(divergence, LoneLeaf):
        found += _of_leaf(divergence, left, right)
    return tuple(filter(None, map(_suspect, found)))


def _suspect(ends: Ends) -> Suspect | None:
    """What can be tried at one end of a divergence; None where nothing can."""
    last, other = ends.own_row[-1], ends.row[-1]
    own, target = _value(ends.here, last, ends.result), _value(ends.there, other, ends.result)
    if own is None or target is None:
        return None
    trials = list(_trials(ends, target))
    if not trials:
        return None
    ids = [last.id] if ends.at == "order" else [node.id for node in ends.own_row]
    unchanged = Trial(tuple(ids), is_state=ends.at == "state")
    has_further = ends.at in ("op", "first") and not ends.result
    further = tuple(islice(_further(ends, own, target), FURTHER)) if has_further else ()
    within = tuple(_within(ends, own, target)) if not ends.result else ()
    # Of an op's kind the other side has as many, and of that of an operator tried in its place none: beside
    # zeros a sum is a difference.
    ops = {node.id: node.op for node in ends.own_row}
    replaced = [it for trial in trials for it in trial.edits if isinstance(it, ReplaceOperator)]
    not_there = frozenset(
        (edit.node, edit.op)
        for edit in replaced
        if _count(ops[edit.node], ends.own_row) <= _count(ops[edit.node], ends.row)
        and _count(edit.op, ends.row) == 0
    )
    return Suspect(
        ends.side, last, other, own, target, (unchanged, *trials), further, within, not_there
    )


def _value(flow: GraphView, node: Node, result: str) -> Output | None:
    """The main output of a node, or the result of that name."""
    results = [it for it in flow.graph.nodes if it.kind == "output" and it.name == result]
    return (results[0].outputs[0] if results else None) if result else node.main


def _trials(ends: Ends, target: Output) -> Iterator[Trial]:
    """Ops edited together, or each op of a row edited and those behind it computed again."""
    row = ends.own_row
    ids = tuple(node.id for node in row)
    if ends.at in ("beside", "state", "order", "leaf"):
        again = (ids[-1], ids[0]) if ends.at == "order" else ids
        for edits in _edits_at(Spot(ends, row[0], target), ends.at):
            yield Trial(again, edits, is_state=ends.at == "state")
        return
    where: Where = "extra" if ends.at == "extra" else "row" if len(row) > 1 else "op"
    tried = row[:1] if ends.at == "first" else row
    for place, node in enumerate(tried if len(row) <= MOST_OPS else row[:1]):
        if place and where == "row":
            yield Trial(ids[place:])
        wheres: tuple[Where, ...] = ("row", "begin") if where == "row" and not place else (where,)
        for edits in _edits_at(Spot(ends, node, target), *wheres):
            yield Trial(ids[place:], edits)


def _edits_at(spot: Spot, *where: Where) -> Iterator[Edits]:
    """All edits that are tried at an op."""
    for places, find in CANDIDATES:
        for edits in find(spot) if not set(where).isdisjoint(places) else ():
            yield edits if isinstance(edits, tuple) else (edits,)


def _count(op: str, row: list[Node]) -> int:
    """How many ops of a row are of an operator's kind: a root, or 1 by it."""
    kinds = [family(it).replace("rsqrt", "sqrt") for it in (op, *(node.op for node in row))]
    return kinds.count(kinds[0]) - 1


def _within(ends: Ends, own: Output, target: Output) -> Iterator[tuple[str, Output]]:
    """What the other row makes before its last op, as large as an op's own value, and other than that."""
    for value, node in ((node.main, node) for node in ends.row[:-1]):
        is_other = value and value.shape == own.shape and _is_varied(value)
        if value and is_other and not any(are_equal(value, it) for it in (own, target)):
            yield inputs.label_of(node), value


def _further(ends: Ends, own: Output, target: Output) -> Iterator[Output]:
    """What the other side makes of its first op, as large as an op's own value, the nearest first.

    What is known here is no such value: with an op left out, or nothing changed, that is given too.
    """
    known = [own, *(it for node in ends.own_row for it in ends.here.tensors(node).values())]
    # Where both sides do the same last, the other side's steps ahead of it are its own.
    do_the_same = family(ends.own_row[-1].op) == family(ends.row[-1].op)
    first = ends.row[-1 if do_the_same else 0]
    behind = set(ends.there.behind(first.id))
    # Within a row of the other side where both go on alike: else what follows there is not explained.
    goes_on = ends.here.next_op(ends.own_row[-1])
    for node in ends.row[:-1]:
        follows = ends.there.next_op(node)
        if goes_on is None or not are_alike(follows, goes_on):
            behind.discard(node.id)
    for node in ends.there.graph.nodes:
        if node.id in behind and node.kind == "op" and node.phase == first.phase and node.outputs:
            value = node.outputs[0]
            is_other = value.shape == own.shape and value is not target and _is_varied(value)
            if is_other and not any(are_equal(value, other) for other in known):
                yield value


def _is_varied(value: Output) -> bool:
    """Whether a value is known and is given by no chance, as zeros and ones are, such as labels."""
    numbers = numbers_of(value)
    return numbers is not None and (numbers.size <= 1 or np.unique(numbers).size >= FEW)


# What is tried with an op: a table of candidates


def other_arguments(spot: Spot) -> Iterator[Edit]:
    """Another argument; a number of arithmetic where both sides go on with one formula alone."""
    ends = spot.ends
    sides = (ends.here, ends.own_row), (ends.there, ends.row)
    if not (family(spot.node.op) in COMMON and begin_other_formulas(*sides)):
        yield from spot.changes("single")


def other_elements(spot: Spot) -> Iterator[Edit]:
    """A slice at other places."""
    read = spot.here.own_shapes(spot.node).get(0)
    if read is not None and spot.node.outputs:
        made = spot.here.own_shape(spot.node, spot.node.outputs[0].shape)
        yield from (set_arguments(spot.node, change) for change in slices(spot.node, read, made))


def padded_input(spot: Spot) -> Iterator[Edits]:
    """More padding at one end than at the other."""
    here, node = spot.here, spot.node
    return padded(node, here.own_shapes(node), here.own_shape(node, spot.target.shape))


def removed(spot: Spot) -> Iterator[Edit]:
    """No op, where the other side has fewer of its kind."""
    # Near 0 many an op hands on what it reads. Where that side does its work right behind, it is not left
    # out, it comes later.
    node, ends = spot.node, spot.ends
    behind = ends.here.next_op(ends.own_row[-1]), ends.there.next_op(ends.row[-1])
    own, others = (
        _count(node.op, [*row, *([it] if it else [])])
        for row, it in zip((ends.own_row, ends.row), behind, strict=True)
    )
    is_more = _count(node.op, ends.own_row) > _count(node.op, ends.row)
    if node.outputs and is_more and own > others:
        for place, read in enumerate(spot.tensors.values()):
            if math.prod(read.shape) == math.prod(node.outputs[0].shape):
                yield RemoveOperator(node=node.id, hands_on=place)


def replaced(spot: Spot) -> Iterator[Edit]:
    """Another operator."""
    # In memory of its own: what is written in place is compared as well.
    node, plain = spot.node, spot.node.op.replace("_.default", ".default")
    for other in alternatives(plain):
        yield ReplaceOperator(node=node.id, op=other)
    axes = node.arguments.get("dim")
    if plain in TRIED.reductions and isinstance(axes, tuple) and len(axes) == 1:
        for index in (0, -1):
            given: Arguments = {"dim": axes[0], "index": index}
            yield ReplaceOperator(node=node.id, op=TRIED.select, arguments=given)


def halves_exchanged(spot: Spot) -> Iterator[Edit]:
    """The two halves of what is read in the place of each other."""
    for slot, read in spot.tensors.items():
        for axis, length in enumerate(read.shape):
            if length > 2 and length % 2 == 0:
                yield spot.inserted("roll", slot, numbers=(axis, length // 2))


def of_a_state(spot: Spot) -> Iterator[Edits]:
    """Other arguments of all ops that write to one state, and the first ones left out."""
    for change in spot.arguments.single:
        yield tuple(set_arguments(node, change) for node in spot.ends.own_row)
    yield (RemoveOperator(node=spot.node.id),)


def opposite_order(spot: Spot) -> Iterator[Edits]:
    """The second of two ops, computed from what the first one reads, and the first of what that yields."""
    here, node = spot.here, spot.node
    _, *between, second = spot.ends.own_row
    before = between[-1] if between else node
    # Neither of the two reads what is between them then.
    dropped = [RemoveOperator(node=it.id) for it in between]
    slots = [edge.input for edge in here.into(second) if here.is_handed_on(edge.origin, before)]
    # Each number of the first one, such as its eps, with those of the other side's in its place.
    numbers = [it for it in spot.ends.row[-1].arguments.values() if isinstance(it, float)]
    changed: list[Arguments] = [{}]
    for name, own in node.arguments.items():
        if isinstance(own, float):
            changed += [{name: number} for number in numbers if number != own]
    for read in here.into(node) if slots else ():
        ahead = Rewire(node=second.id, slots=(slots[0],), source=FromNode(read.origin, read.output))
        label = inputs.op_label(node)
        behind = Rewire(node=node.id, slots=(read.input,), source=FromNode(second.id), label=label)
        # Each in the shape in which it is read, which may be made between the two.
        given, taken = here.own_shapes(node).get(read.input), here.own_shapes(second).get(slots[0])
        made = here.own_shape(second, second.outputs[0].shape) if second.outputs else None
        first = (ahead, *_reshaped(ahead, given, taken), *dropped)
        last = (behind, *_reshaped(behind, made, given))
        for change in changed:
            yield (*first, *last, *([set_arguments(node, change)] if change else []))


def _reshaped(edit: Rewire, given: Shape | None, taken: Shape | None) -> Iterator[Edit]:
    """What gives a value of one shape another one, where it has as many elements and not that shape."""
    if given and taken and given != taken and math.prod(given) == math.prod(taken):
        yield InsertOperator(node=edit.node, op="reshape", slots=edit.slots, shape=taken)


def without_leaf(spot: Spot) -> Iterator[Edit]:
    """Zeros in the place of a leaf, wherever the op reads it."""
    leaf, nodes = spot.ends.leaf, spot.here.nodes
    edges = spot.here.into(spot.node)
    slots = tuple(edge.input for edge in edges if nodes[edge.origin].name == leaf)
    yield Rewire(node=spot.node.id, slots=slots, source=Zeros(leaf))


CANDIDATES: tuple[tuple[tuple[Where, ...], Callable[[Spot], Iterator[Edit | Edits]]], ...] = (
    (("op", "row"), other_arguments),  # an eps, an axis, a momentum, a mode, a reduction
    (("op", "row"), other_elements),  # the other half, every second element, one place off
    (("op", "row"), removed),  # an op too many
    (("op", "row"), replaced),  # another activation, loss, reduction or kind of pooling
    (("op", "row"), lambda spot: spot.changes("windows")),  # padding with stride or dilation
    (("op", "row"), inputs.inverted),  # a mask of the opposite sense
    (("op", "begin"), inputs.swapped),
    (("op", "begin"), inputs.replaced),
    (("op", "begin"), inputs.computed),  # a factor, a cast
    (("op", "begin"), inputs.in_other_shapes),  # an axis that is left out or stands elsewhere
    (("op", "begin"), inputs.moved),  # another layout
    (("op", "begin"), inputs.spread),  # along another axis
    (("begin", "beside"), inputs.exchanged),  # an activation of the other factor
    (("op", "row"), halves_exchanged),  # a gate that is the other half of what it reads
    (("op", "begin"), leaves.other_leaves),  # another weight or bias
    (("op",), leaves.other_constants),
    (("op",), lambda spot: spot.changes("double")),
    (
        ("op",),
        inputs.with_inputs_of_there,
    ),  # an eps behind other mistakes that are too small to tell
    (("op",), padded_input),  # padding of one end, as the mode same makes it
    (("row", "extra"), inputs.zeros),  # a state that starts at other numbers
    (("row",), inputs.moved_weights),  # a weight in another layout
    (("state",), of_a_state),  # a momentum, a step too many
    (("order",), opposite_order),  # a norm behind the activation
    (("leaf",), without_leaf),  # a bias
)
"""What is tried in each place, what comes first first: of many divergences only the beginning is tried."""


# A leaf that one side alone has


def _of_leaf(divergence: LoneLeaf, left: GraphView, right: GraphView) -> Iterator[Ends]:
    """What reads a leaf, beside the ops that may do the same without it."""
    here, there, leaf = sided(divergence, left, right)
    for user in here.readers(leaf) if leaf else ():
        families = {family(it.op) for it in (user, *here.origins(user)) if it.kind == "op"}
        # What an op of the user's kind reads may have its own value for the leaf there.
        of_form = [it for it in there.graph.nodes if is_of_form(it, user)]
        alike = [
            it for it in of_form if family(it.op) in families and not does_the_same(there, it, user)
        ]
        alike.sort(key=lambda it: abs(it.order - user.order))
        for other in alike[:FEW] if user.kind == "op" else ():
            ends = Ends(divergence.side, here, there, [user], [other], at="leaf")
            yield ends._replace(leaf=divergence.name)
