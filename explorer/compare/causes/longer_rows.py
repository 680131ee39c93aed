"""Rows of ops around a divergence: what is ahead of it or behind it, and what one side alone has."""

from collections.abc import Callable, Iterator

from explorer.compare.causes.places import Ends, is_ahead
from explorer.compare.causes.rooms import are_equal
from explorer.compare.graphs.view import GraphView
from explorer.model.divergence import Divergence, ExtraOps, OtherValue, Row
from explorer.model.families import BOOKKEEPING, family
from explorer.model.graph import OTHER, Node

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
        longer.append(_with_what_follows)
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
                base = _base(flow, read)
                found[base.id] = base
    return list(found.values())


def _base(flow: GraphView, node: Node) -> Node:
    """What a value has its numbers from, ahead of ops that compute no new ones."""
    while node.kind == "op" and family(node.op) in BOOKKEEPING:
        reads = flow.origins(node)
        if len(reads) != 1:
            break
        (node,) = reads
    return node


def _are_one(node: Node, other: Node) -> bool:
    """Whether two values are one leaf, or ones with the same numbers."""
    if node.kind == other.kind == "parameter":
        return node.name == other.name
    if not (node.outputs and other.outputs):
        return False
    return are_equal(node.outputs[0], other.outputs[0])


def _with_what_follows(ends: Ends) -> Iterator[Ends]:
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
