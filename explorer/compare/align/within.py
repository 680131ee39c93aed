"""What is paired beyond one node with one node: steps that a partner takes inside itself, and
further outputs of one op.
"""

from collections.abc import Iterator

from explorer.compare.align.anchors import NOISE
from explorer.compare.align.side import LEAVES, WORK, Slot
from explorer.compare.align.state import Matching
from explorer.model.alignment import How

Region = tuple[list[str], set[str]]
"""Nodes that nothing but a pair's node uses, and the origins of all that goes into them."""


def enclose(matching: Matching) -> None:
    """Finds, for each pair, the unpaired steps that lead to its node and that its partner takes
    inside itself.

    That holds by value: both nodes hold the same numbers, all that goes into the steps is paired
    with what goes into the partner, and nothing else uses the steps. In backward these are the
    incoming gradients; what forward kept may be any of its values.
    """
    for left, right, how in sorted(
        matching.found, key=lambda pair: matching.sides[0].rank[pair[0][0]]
    ):
        tops = left[0], right[0]
        nodes = [side.nodes[top] for side, top in zip(matching.sides, tops, strict=True)]
        mains = left == matching.sides[0].slot(tops[0]) and right == matching.sides[1].slot(tops[1])
        if (
            not mains
            or how == "provenance"
            or nodes[0].phase != nodes[1].phase
            or not {node.kind for node in nodes} <= WORK
        ):
            continue
        regions = [_region(matching, index, tops[index]) for index in (0, 1)]
        if not (regions[0][0] or regions[1][0]) or not matching.held(left, right):
            continue
        fed = [_fed(matching, index, regions[index][1], nodes[0].phase) for index in (0, 1)]
        if fed[0] is not None and fed[0] == fed[1]:
            for index in (0, 1):
                matching.enclose(index, regions[index][0], tops[index])


def _region(matching: Matching, index: int, top: str) -> Region:
    side, partner = matching.sides[index], matching.relations.partner[index]
    phase = side.nodes[top].phase
    members, stack, around = {top: None}, [top], set()
    while stack:
        for origin, _ in side.inputs[stack.pop()]:
            found = side.nodes[origin]
            free = (
                found.kind in WORK
                and found.phase == phase
                and origin not in partner
                and side.main(origin) >= 0
            )
            if free and all(
                user in members
                for user in side.consumers[origin]
                if side.nodes[user].phase == phase
            ):
                if origin not in members:
                    members[origin] = None
                    stack.append(origin)
            else:
                around.add(origin)
    del members[top]
    steps = sorted(members, key=side.rank.__getitem__)
    return steps, {
        matching.relations.root[index][origin] for origin in around if origin not in members
    }


def _fed(matching: Matching, index: int, around: set[str], phase: str) -> set[str] | None:
    """What goes into a region, as nodes of the right side; None where some of it has no partner."""
    side, roots = matching.sides[index], matching.relations.roots[index]
    found = set()
    for node in around:
        if phase == "backward" and side.nodes[node].phase == "forward":
            if (
                node not in roots
                and matching.pair_of(index, node) is None
                and side.nodes[node].kind not in LEAVES | {"constant"}
            ):
                return None
        elif node in roots:
            found.add(roots[node] if index == 0 else node)
        elif side.nodes[node].kind != "constant" and side.family(node) != "fill":
            return None
    return found


def share(matching: Matching) -> None:
    """Pairs what is still free with a further output of a paired op: several gradients that one op
    yields together.
    """
    for index in (0, 1):
        for mine, theirs, how in (
            *_equal_outputs(matching, index),
            *_named_results(matching, index),
        ):
            if matching.pair_of(1 - index, theirs[0]) is None and mine not in matching.taken[index]:
                matching.share(index, mine, theirs, how)


def _equal_outputs(matching: Matching, index: int) -> Iterator[tuple[Slot, Slot, How]]:
    """Outputs of paired ops, each with a free node of the other side that holds the same and
    derives from the same.
    """
    side, opposite, prints = matching.sides[index], matching.sides[1 - index], matching.prints
    free: dict[int, list[str]] = {}
    for node in opposite.ordered():
        number = prints.classes[1 - index].get(opposite.slot(node))
        if (
            number is not None
            and opposite.nodes[node].kind in WORK
            and matching.pair_of(1 - index, node) is None
        ):
            free.setdefault(number, []).append(node)
    for node in side.ordered():
        if node not in matching.relations.partner[index] or side.nodes[node].kind not in WORK:
            continue
        for slot in range(len(side.nodes[node].outputs)):
            held = prints.classes[index].get((node, slot))
            if held is None or held in prints.plain or slot == side.main(node):
                continue
            near = [
                other for each in (held, *prints.near.get(held, ())) for other in free.get(each, ())
            ]
            alike = [
                other for other in near if opposite.nodes[other].phase == side.nodes[node].phase
            ]
            yield from (
                ((node, slot), opposite.slot(o), "value+provenance")
                for o in alike
                if _kin(matching, index, node, o)
            )


def _named_results(matching: Matching, index: int) -> Iterator[tuple[Slot, Slot, How]]:
    """What makes the results of one name: that tells where numbers do not, as in a gradient that
    cancels to noise about zero.
    """
    for pair in matching.found:
        if pair[2] != "name" or matching.sides[index].nodes[pair[index][0]].kind != "output":
            continue
        makers = [
            side.inputs[slot[0]][:1] for side, slot in zip(matching.sides, pair[:2], strict=True)
        ]
        for left, right in zip(*makers, strict=False):
            mine, theirs = (left, right) if index == 0 else (right, left)
            works = {
                matching.sides[at].nodes[slot[0]].kind
                for at, slot in ((index, mine), (1 - index, theirs))
            } <= WORK
            if works and mine[0] in matching.relations.partner[index]:
                if matching.held(left, right):
                    yield mine, theirs, "value+provenance"
                elif matching.noise(left, right, NOISE):
                    yield mine, theirs, "provenance"


def _kin(matching: Matching, index: int, node: str, other: str) -> bool:
    """Whether a node and one of the other side derive from what is paired in forward, or are fed by
    what is paired.
    """
    derived = (
        matching.sides[index].nodes[node].forward,
        matching.sides[1 - index].nodes[other].forward,
    )
    if derived[0] and derived[1]:
        known = matching.pair_of(index, derived[0])
        return known is not None and known == matching.pair_of(1 - index, derived[1])
    relations = matching.relations
    wanted = {relations.roots[index].get(origin) for origin in relations.origins(index, node)} - {
        None
    }
    return bool(wanted & set(relations.origins(1 - index, other)))
