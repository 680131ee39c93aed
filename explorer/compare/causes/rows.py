"""Which ops of two graphs are compared at a divergence: rows of ops that can be computed again."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from explorer.compare.graphs.sameness import are_equal
from explorer.compare.graphs.view import GraphView
from explorer.model.divergence import (
    Divergence,
    ExtraOps,
    OtherValue,
    Place,
    ResultElsewhere,
    Row,
)
from explorer.model.graph import OTHER, Node, SideName
from explorer.operators.families import BOOKKEEPING, family

LAYING = BOOKKEEPING | {"flip"}
"""Families of ops that only put the numbers of a leaf elsewhere."""


class Ends(NamedTuple):
    """What two graphs have at a divergence: one op or several in a row of ``here``, and of ``there``.

    What differs is their first output, or the ``result`` of that name which they make. Where the
    ``first_alone`` is changed, what is behind it is only computed again; where one side alone has the
    ops (``is_extra``), what they read is the value to be given. ``is_state``: each of the ops writes to
    the result.
    """

    side: SideName
    here: GraphView
    there: GraphView
    own_row: list[Node]
    row: list[Node]
    result: str = ""
    first_alone: bool = False
    is_extra: bool = False
    is_state: bool = False


def ends_at(divergence: Divergence, left: GraphView, right: GraphView) -> list[Ends]:
    """The ops of both sides, which can be computed again, and what the other one has instead."""
    if isinstance(divergence, ExtraOps):
        one = _with_one_more(divergence, left, right)
        return [one] if one else []
    result = ""
    if isinstance(divergence, ResultElsewhere) and divergence.do_correspond:
        result = divergence.name  # a further output of the two ops, such as a running statistic
    elif not isinstance(divergence, OtherValue):
        return []
    rows = rows_at(divergence, left, right)
    if rows is None:
        return []
    ours, theirs = rows
    both = [
        Ends("left", left, right, ours, theirs, result),
        Ends("right", right, left, theirs, ours, result),
    ]
    if not result:
        both += [longer for longer in map(_with_what_follows, list(both)) if longer]
    return both


def rows_at(
    divergence: Divergence, left: GraphView, right: GraphView
) -> tuple[list[Node], list[Node]] | None:
    """The ops in a row of each side; None where one has none, or its last is not known."""
    first, second = divergence.nodes
    if first is None or second is None:
        return None
    if not isinstance(divergence, OtherValue):
        return [left.nodes[first]], [right.nodes[second]]
    ours, theirs = divergence.rows
    for row, flow in ((ours, left), (theirs, right)):
        if row.count > 1 and row.end not in flow.nodes:
            return None
    return left.row(first, ours.end), right.row(second, theirs.end)


def _with_what_follows(ends: Ends) -> Ends | None:
    """An op with what is behind it, as far as that is of the kinds that the other side has at once."""
    if len(ends.own_row) > 1:
        return None
    (node,) = ends.own_row
    last: Node | None = node
    for other in ends.row:
        behind = ends.here.next_op(last) if last else None
        is_there = is_ahead(node, behind, other) if last is node else _are_alike(behind, other)
        last = behind if is_there else None
    return ends._replace(own_row=ends.here.row(node.id, last.id)) if last else None


def _are_alike(node: Node | None, other: Node) -> bool:
    return node is not None and family(node.op) == family(other.op)


def is_ahead(node: Node, behind: Node | None, other: Node) -> bool:
    """Whether the op ``behind`` a node, and not the node itself, is of the other side's kind."""
    kind = family(other.op)
    return behind is not None and family(behind.op) == kind != family(node.op)


def _with_one_more(divergence: ExtraOps, left: GraphView, right: GraphView) -> Ends | None:
    """An op that one side alone has, with the op behind it, and that of the other side in its place.

    The two are of one kind, in one module.
    """
    here, there = (left, right) if divergence.side == "left" else (right, left)
    first = divergence.nodes[0 if divergence.side == "left" else 1]
    if first is None:
        return None
    node = here.nodes[first]
    if divergence.goes_on is not None:
        return _up_to_where_it_goes_on(divergence, divergence.goes_on, here, node, there)
    behind = here.next_op(node)
    if behind is None or divergence.row.count > 1:
        return None
    like = [other for other in there.graph.nodes if _is_in_its_place(other, behind)]
    if len(like) != 1:
        like = [it for it in there.graph.nodes if _reads_the_same(there, it, here, node, behind)]
    if len(like) != 1:
        return None
    own_row = [node, behind]
    # One of the two may add its bias in an op of its own.
    if len(here.into(behind)) != len(there.into(like[0])):
        own_row, like = _with_bias(here, own_row), _with_bias(there, like)
    return Ends(divergence.side, here, there, own_row, like)


def _up_to_where_it_goes_on(
    divergence: ExtraOps, goes_on: Place, here: GraphView, node: Node, there: GraphView
) -> Ends | None:
    """The ops that one side alone has, with the op behind them, and that with which the other goes on."""
    other = at_place(there, goes_on)
    if other is None:
        return None
    behind = here.next_op(node) or _reader_with(here, node, there, other)
    if behind is None:
        return None
    row = [*here.row_up_to(node, divergence.row.count)[:-1], *here.row(node.id, behind.id)]
    own_row = [other]
    if family(other.op) in BOOKKEEPING:
        # What only hands numbers on is compared with what the ops behind both make of them.
        last = there.next_op(other, BOOKKEEPING)
        if _are_alike(last, behind) and last is not None:
            own_row = there.row(other.id, last.id)
    return Ends(OTHER[divergence.side], there, here, own_row, row)


def _reader_with(flow: GraphView, node: Node, there: GraphView, other: Node) -> Node | None:
    """Of several ops that read a node, the one that does what one of the other side does, with one leaf."""
    leaves = _leaves(there, other)
    readers = [flow.nodes[edge.target] for edge in flow.out_of(node)]
    alike = [it for it in readers if it.kind == "op" and family(it.op) == family(other.op)]
    found = [it for it in alike if leaves & _leaves(flow, it)]
    return found[0] if len(found) == 1 else None


def _leaves(flow: GraphView, node: Node) -> set[str]:
    """The names of the parameters that an op reads, in whichever layout."""
    bases = [base_of(flow, read, LAYING) for read in flow.origins(node)]
    return {base.name for base in bases if base.kind == "parameter"}


def base_of(flow: GraphView, node: Node, families: frozenset[str]) -> Node:
    """What a value has its numbers from, ahead of ops of some families that read one value each."""
    while node.kind == "op" and family(node.op) in families:
        reads = flow.origins(node)
        if len(reads) != 1:
            break
        (node,) = reads
    return node


def _with_bias(flow: GraphView, row: list[Node]) -> list[Node]:
    """A row with what adds a bias to its last op, where that is an op of its own in the same module."""
    node = row[-1]
    behind = flow.next_op(node, frozenset())
    if behind is None or behind.scope != node.scope or family(behind.op) != "add":
        return row
    reads_leaf = any(read.kind == "parameter" for read in flow.origins(behind))
    return [*row, behind] if reads_leaf else row


def at_place(flow: GraphView, place: Place) -> Node | None:
    """The first node of an op, a module and a line, called from the same line where that is known."""
    fitting = [
        node
        for node in flow.graph.nodes
        if (node.op, node.scope, node.source[:1]) == (place.label, place.scope, (place.source,))
    ]
    called = [node for node in fitting if place.caller and place.caller in node.source[1:]]
    return next(iter(called or fitting), None)


def _is_in_its_place(other: Node, node: Node) -> bool:
    """Whether an op is of the kind of one of the other side, in a module of the same name."""
    is_one_kind = (other.scope, family(other.op)) == (node.scope, family(node.op))
    return is_one_kind and is_of_form(other, node)


def _reads_the_same(
    flow: GraphView, other: Node, here: GraphView, node: Node, behind: Node
) -> bool:
    """Whether an op does what is done ``behind`` a node with what the node reads, and so nothing more."""
    if not (is_of_form(other, behind) and family(other.op) == family(behind.op)):
        return False
    known = [it for it in (*here.origins(node), *here.origins(behind)) if it.outputs]
    reads = [it for it in flow.origins(other) if it.outputs]
    return len(reads) > 1 and all(
        any(are_equal(read.outputs[0], it.outputs[0]) for it in known) for read in reads
    )


def is_of_form(node: Node, other: Node) -> bool:
    """Whether a node is an op in the phase of another one, with a value of the same shape."""
    if node.kind != "op" or node.phase != other.phase or not (node.outputs and other.outputs):
        return False
    return node.outputs[0].shape == other.outputs[0].shape


def does_the_same(flow: GraphView, node: Node, user: Node) -> bool:
    """Whether an op of the user's kind reads a node: then it may have its own value for a leaf."""
    behind = flow.next_op(node)
    return behind is not None and family(behind.op) == family(user.op)


# Longer rows: what is ahead of a divergence or behind it, and what one side alone has

NEAR = 3
"""So many ops ahead of a divergence, or behind it, are looked at."""

MOST_AHEAD = 6
"""So many of those ahead of it are tried, the nearest ones first."""


def longer_ends(
    divergence: Divergence, both: list[Ends], left: GraphView, right: GraphView
) -> list[Ends]:
    """Longer rows than those of a divergence, for each of its ends: what follows, and what is before."""
    longer: list[Callable[[Ends], Iterator[Ends]]] = [_of_one_state, _up_to_what_is_read_there]
    if isinstance(divergence, OtherValue):
        longer.append(_up_to_its_kind)
        if divergence.inputs.differing or all(divergence.inputs.alone):
            longer.append(_with_what_is_before)
    found = [ends for find in longer for one in both for ends in find(one)]
    if isinstance(divergence, ExtraOps):
        found += _beside_what_is_read(divergence, left, right)
        found += [_seen_from_there(ends) for ends in both if len(ends.row) > 1]
    return found


def _seen_from_there(ends: Ends) -> Ends:
    """The two rows with the other one as that which is changed."""
    return Ends(OTHER[ends.side], ends.there, ends.here, ends.row, ends.own_row)


def _of_one_state(ends: Ends) -> Iterator[Ends]:
    """All ops that write to what an op writes to, where it is the last of several that do."""
    if not ends.result:
        return
    (node,) = ends.own_row
    leaves = {
        edge.origin
        for edge in ends.here.into(node)
        if ends.here.nodes[edge.origin].name == ends.result
    }
    writers = [
        it
        for it in ends.here.graph.nodes
        if it.op == node.op and leaves & {edge.origin for edge in ends.here.into(it)}
    ]
    if len(writers) > 1 and writers[-1] is node:
        yield ends._replace(own_row=writers, is_state=True)


def _up_to_what_is_read_there(ends: Ends) -> Iterator[Ends]:
    """A row with the ops behind it, up to one that reads what the other row reads besides: a bias."""
    if ends.result or ends.is_extra:
        return
    first, last = ends.own_row[0], ends.own_row[-1]
    missing = _without(_bases(ends.there, ends.row), _bases(ends.here, ends.own_row))
    end: Node | None = None
    behind: Node | None = last
    for _ in range(NEAR):
        behind = ends.here.next_op(behind) if behind and missing else None
        if behind is None:
            break
        left = _without(missing, _bases(ends.here, [behind]))
        if len(left) < len(missing):
            missing, end = left, behind
    if end is not None:
        yield ends._replace(own_row=ends.here.row(first.id, end.id))


def _without(values: list[Node], others: list[Node]) -> list[Node]:
    """The values of one side that are none of the other side's."""
    return [it for it in values if not any(_are_one(other, it) for other in others)]


def _bases(flow: GraphView, row: list[Node]) -> list[Node]:
    """What a row reads from outside, ahead of what only moves or spreads it."""
    members = {node.id for node in row}
    found: dict[str, Node] = {}
    for node in row:
        for read in flow.origins(node):
            if read.id not in members:
                base = base_of(flow, read, BOOKKEEPING)
                found[base.id] = base
    return list(found.values())


def _are_one(node: Node, other: Node) -> bool:
    """Whether two values are one leaf, or ones with the same numbers."""
    if node.kind == other.kind == "parameter":
        return node.name == other.name
    if not (node.outputs and other.outputs):
        return False
    return are_equal(node.outputs[0], other.outputs[0])


def _up_to_its_kind(ends: Ends) -> Iterator[Ends]:
    """An op with what is behind it, up to an op of the kind that ends the row of the other side."""
    if len(ends.own_row) > 1 or len(ends.row) == 1:
        return
    (node,), last = ends.own_row, ends.row[-1]
    behind: Node | None = node
    for _ in range(NEAR):
        behind = ends.here.next_op(behind) if behind else None
        if is_ahead(node, behind, last) and behind is not None:
            yield ends._replace(own_row=ends.here.row(node.id, behind.id))
            return


def _with_what_is_before(ends: Ends) -> Iterator[Ends]:
    """Rows from each of the nearest ops ahead of a divergence, which alone is then changed."""
    here, first, last = ends.here, ends.own_row[0], ends.own_row[-1]
    ahead: list[Node] = []
    latest = [first]
    for _ in range(NEAR):
        latest = _read_by(here, latest, first)
        ahead += [it for it in latest if it not in ahead]
    for node in ahead[:MOST_AHEAD]:
        yield ends._replace(own_row=here.row(node.id, last.id), first_alone=True)


def _read_by(flow: GraphView, nodes: list[Node], first: Node) -> list[Node]:
    """The ops that some nodes read, and those behind which only numbers are moved up to the nodes."""
    found: dict[str, Node] = {}
    waiting = list(nodes)
    while waiting:
        for read in flow.origins(waiting.pop(0)):
            if read.kind == "op" and read.phase == first.phase and read.id not in found:
                found[read.id] = read
                if family(read.op) in BOOKKEEPING:
                    waiting.append(read)
    return list(found.values())


def _beside_what_is_read(divergence: ExtraOps, left: GraphView, right: GraphView) -> Iterator[Ends]:
    """The ops that one side alone has, beside what they read, with which the other side goes on.

    The other side's value is known to be that one, so its own ops of the kind may do nothing there.
    """
    here, there = (left, right) if divergence.side == "left" else (right, left)
    last = divergence.nodes[0 if divergence.side == "left" else 1]
    if last is None or divergence.gradients or divergence.gap.greatest is None:
        return
    node = here.nodes[last]
    row = _row(here, divergence.row, node)
    outside = [it for member in row for it in here.origins(member) if it not in row]
    for read in [it for it in outside if _is_as_large(it, row[-1])]:
        yield Ends(divergence.side, here, here, row, [read], is_extra=True)
        if len(row) == 1:
            for other in _doing_nothing(there, node, read):
                yield Ends(OTHER[divergence.side], there, here, [other], [node])


def _doing_nothing(flow: GraphView, node: Node, read: Node) -> Iterator[Node]:
    """The ops of another one's kind that hand on what they read, where that is a value of the other side."""
    for other in flow.graph.nodes:
        if _does_nothing(flow, other, node) and are_equal(other.outputs[0], read.outputs[0]):
            yield other


def _row(flow: GraphView, row: Row, last: Node) -> list[Node]:
    """The ops of a row that ends with one; that alone where it is not clear with which it begins."""
    first = row.first.label, (row.first.source,)
    begins = [node for node in flow.graph.nodes if (node.op, node.source[:1]) == first]
    rows = [flow.row(node.id, last.id) for node in begins if node.order < last.order]
    fitting = [found for found in rows if len(found) == row.count]
    return fitting[0] if len(fitting) == 1 else [last]


def _does_nothing(flow: GraphView, other: Node, node: Node) -> bool:
    """Whether an op of the kind of another one hands on what it reads."""
    if other.kind != "op" or other.phase != node.phase or family(other.op) != family(node.op):
        return False
    reads = flow.tensors(other).values()
    return bool(other.outputs) and any(are_equal(read, other.outputs[0]) for read in reads)


def _is_as_large(read: Node, node: Node) -> bool:
    if not (read.outputs and node.outputs):
        return False
    shapes = [[length for length in it.outputs[0].shape if length != 1] for it in (read, node)]
    return shapes[0] == shapes[1]
