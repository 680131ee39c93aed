"""The same numbers put elsewhere on the way to two values that should be equal: where the ways part."""

from collections.abc import Iterator, Sequence

from explorer.compare.causes.chains import Chain, chain_to, ends_of_chains, pairs_between
from explorer.compare.causes.layouts import are_rearranged
from explorer.compare.causes.relations import WITH_LAYOUTS, Found, Surroundings, relation_of
from explorer.compare.causes.rooms import numbers_of, room_of
from explorer.compare.causes.value_pairs import ValuePair, are_same, cause_by
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Cause, Related
from explorer.model.divergence import Divergence
from explorer.model.graph import Node, Output, SideName


def rearranged_cause(divergence: Divergence, left: GraphView, right: GraphView) -> Cause | None:
    """Where the same numbers are put elsewhere on the way to the values at a divergence."""
    for node, other in ends_of_chains(divergence, left, right):
        if _are_rearranged(node, other):
            chains = chain_to(left, node), chain_to(right, other)
            shapes = tuple(it.outputs[0].shape for chain in chains for it in chain.nodes)
            around = Surroundings(shapes=shapes)
            for ends in _parted(chains, (left, right), around):
                found = _layout(ends, around)
                if found:
                    return cause_by(found, ends, (left, right))
    return None


def _parted(
    chains: tuple[Chain, Chain], flows: tuple[GraphView, GraphView], around: Surroundings
) -> Iterator[ValuePair]:
    """Values of two chains that may follow from one another, what says most of them first.

    One has ops too many behind the other's end; or they part at two values behind which they do the
    same; or their ends part, or one end and what the other chain begins with.
    """
    ends = chains[0].end, chains[1].end
    for side, flow, chain, other in (
        ("left", flows[0], chains[0], ends[1]),
        ("right", flows[1], chains[1], ends[0]),
    ):
        for place in reversed(range(len(chain.nodes) - 1)):
            if are_same(chain.nodes[place], other):
                node, moved = chain.nodes[place], _moving(chain.nodes[place:])
                values = node.outputs[0], moved.outputs[0]
                yield ValuePair(side, flow, flow, node, moved, *values, is_extra=True)  # type: ignore[arg-type]  # one of two sides
                return
    for pair in pairs_between(*chains):
        if _go_on_alike(pair, ends, around):
            yield from _both_ways(*pair, flows)
            break
    yield from _both_ways(*ends, flows)
    yield _ends_of("left", flows, chains[0].base, ends[1])
    yield _ends_of("right", flows, chains[1].base, ends[0])


def _moving(nodes: Sequence[Node]) -> Node:
    """The op that puts the numbers of the first of some nodes where those of the last are, or the last."""
    first, last = nodes[0], nodes[-1]
    for node in nodes[1:]:
        if not are_same(node, first):
            return node if are_same(node, last) else last
    return last


def _both_ways(
    node: Node, other: Node, flows: tuple[GraphView, GraphView]
) -> tuple[ValuePair, ValuePair]:
    return _ends_of("left", flows, node, other), _ends_of("right", flows, other, node)


def _ends_of(
    side: SideName, flows: tuple[GraphView, GraphView], node: Node, other: Node
) -> ValuePair:
    """A node of one side, from whose value that of one of the other side may follow."""
    here, there = flows if side == "left" else flows[::-1]
    return ValuePair(side, here, there, node, other, node.outputs[0], other.outputs[0])


def _are_rearranged(node: Node, other: Node) -> bool:
    """Whether two values hold the same numbers, and not in one order."""
    own, target = numbers_of(node.outputs[0]), numbers_of(other.outputs[0])
    if own is None or target is None or are_same(node, other):
        return False
    return are_rearranged(own, target, room_of(node.outputs[0], other.outputs[0]))


def _go_on_alike(pair: tuple[Node, Node], ends: tuple[Node, Node], around: Surroundings) -> bool:
    """Whether two values differ, and the same is done to both on the way to the ends."""
    if not _are_rearranged(*pair):
        return False
    done = _relation(pair[0].outputs[0], ends[0].outputs[0], around)
    return done is not None and done == _relation(pair[1].outputs[0], ends[1].outputs[0], around)


def _layout(ends: ValuePair, around: Surroundings) -> Found | None:
    return _found_between(ends.own, ends.target, around)


def _relation(own: Output, target: Output, around: Surroundings) -> Related | None:
    """In which layout a value has the numbers of another one, as a relation alone."""
    found = _found_between(own, target, around)
    return found.relation if found else None


def _found_between(one: Output, other: Output, around: Surroundings) -> Found | None:
    own, target = numbers_of(one), numbers_of(other)
    if own is None or target is None:
        return None
    return relation_of(own, target, room_of(one, other), around, WITH_LAYOUTS)
