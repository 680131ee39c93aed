"""One-to-one pairing of nodes that hold the same values: unique values first, then provenance, then
order.
"""

from collections.abc import Callable, Iterable

from explorer.compare.align.anchors import leaves, results, unobserved
from explorer.compare.align.fingerprints import TIGHT, Prints
from explorer.compare.align.order import increasing
from explorer.compare.align.provenance import relate
from explorer.compare.align.side import LEAVES, WORK, Side, Slot
from explorer.compare.align.state import Matching

Bin = tuple[str, str]
Pool = dict[tuple[Bin, int], list[Slot]]

ROUNDS: tuple[tuple[str, bool], ...] = (("same", True), ("same", False), ("across", True))
"""Which nodes may pair, and whether by their main output only: first like with like, at last over
phases and with constants.
"""

SWEEPS = 6
"""How often provenance is followed up and down the graph; each sweep works from the pairs of the
one before.
"""


def match(sides: tuple[Side, Side], prints: Prints, rtol: float, atol: float) -> Matching:
    """Pairs the nodes of two sides; the same graphs always give the same pairs, in order of
    discovery.
    """
    matching = Matching(sides, prints, relate(sides, prints), rtol, atol)
    leaves(matching)
    results(matching)
    for scope, main in ROUNDS:
        bins = _like if scope == "same" else _any
        pools = tuple(_pool(matching, index, bins, main) for index in (0, 1))
        _unique(matching, pools, scope, TIGHT)
        _unique(matching, pools, scope, float("inf"))
        _provenance(matching, bins, main, scope)
        pools = tuple(_pool(matching, index, bins, main) for index in (0, 1))
        _in_order(matching, pools, scope)
    unobserved(matching)
    return matching


def _like(side: Side, node: str) -> Bin | None:
    """Nodes pair within a phase, and within leaves, constants, or work."""
    found = side.nodes[node]
    kind = "work" if found.kind in WORK else "leaf" if found.kind in LEAVES else found.kind
    return None if kind == "output" else (found.phase, kind)


def _any(side: Side, node: str) -> Bin | None:
    """Work may be done in the other phase, or folded into a constant; leaves stay leaves."""
    return ("any", "any") if side.nodes[node].kind in WORK | {"constant"} else None


def _pool(
    matching: Matching, index: int, bins: Callable[[Side, str], Bin | None], main: bool
) -> Pool:
    side, classes, pool = matching.sides[index], matching.prints.classes[index], Pool()
    for node in side.ordered():
        where = bins(side, node)
        if (
            where is None
            or node in matching.relations.partner[index]
            or f"{index}{node}" in matching.named
        ):
            continue
        for slot in [side.main(node)] if main else range(len(side.nodes[node].outputs)):
            number = classes.get((node, slot))
            if number is not None:
                pool.setdefault((where, number), []).append((node, slot))
    return pool


def _near(prints: Prints, number: int, limit: float) -> Iterable[int]:
    yield number
    for other, gap in prints.near.get(number, {}).items():
        if gap <= limit:
            yield other


def _unique(matching: Matching, pools: tuple[Pool, ...], scope: str, limit: float) -> None:
    """A value that exactly one free node of each side holds; numbers repeated throughout a tensor
    prove nothing.
    """
    prints, partner = matching.prints, matching.relations.partner

    def holders(index: int, where: Bin, number: int) -> list[Slot]:
        found: dict[str, Slot] = {}
        for other in _near(prints, number, limit):
            for slot in pools[index].get((where, other), ()):
                if slot[0] not in partner[index]:
                    found.setdefault(slot[0], slot)
                    if len(found) > 1:
                        return list(found.values())
        return list(found.values())

    for where, number in list(pools[0]):
        if number in prints.plain and not _telling(matching, number):
            continue
        mine, theirs = holders(0, where, number), holders(1, where, number)
        if len(mine) == len(theirs) == 1:
            back = holders(0, where, prints.classes[1][theirs[0]])
            consistent = matching.relations.consistent(back[0][0], theirs[0][0])
            if len(back) == 1 and consistent and matching.held(back[0], theirs[0]):
                matching.join(back[0], theirs[0], "across" if scope == "across" else "value")


def _telling(matching: Matching, number: int) -> bool:
    """Whether a value that is one number over and over still says something: one element, and not 0
    or ±1.
    """
    return matching.relations.scalars.get(number, 0.0) not in {0.0, 1.0, -1.0}


def _provenance(
    matching: Matching, bins: Callable[[Side, str], Bin | None], main: bool, scope: str
) -> None:
    """Among equal values, a node's partner is fed by, feeds, or derives from the partners of its
    neighbours.
    """
    left, right = matching.sides
    relations = matching.relations
    relations.index(main)
    for sweep in range(SWEEPS):
        before = len(matching.found)
        for node in left.ordered() if sweep % 2 == 0 else reversed(left.ordered()):
            where = bins(left, node)
            if where is None or node in relations.partner[0] or f"0{node}" in matching.named:
                continue
            best: tuple[tuple[float, ...], Slot, Slot] | None = None
            for slot in [left.main(node)] if main else range(len(left.nodes[node].outputs)):
                number = matching.prints.classes[0].get((node, slot), -1)
                if (
                    scope == "across"
                    and number in matching.prints.plain
                    and not _telling(matching, number)
                ):
                    continue  # a seed of ones is no operator whose value happens to be one
                for other in relations.candidates((node, slot)):
                    free = bins(right, other[0]) == where and f"1{other[0]}" not in matching.named
                    if free and relations.consistent(node, other[0]):
                        score = (
                            *relations.score((node, slot), other, matching.layout),
                            -right.rank[other[0]],
                        )
                        if best is None or score > best[0]:
                            best = score, (node, slot), other
            if best and best[0][0] > 0:
                matching.join(
                    best[1], best[2], "across" if scope == "across" else "value+provenance"
                )
        if len(matching.found) == before and sweep:
            break


def _in_order(matching: Matching, pools: tuple[Pool, ...], scope: str) -> None:
    """What is still ambiguous pairs along the longest sequence that both execution orders agree on,
    like ops before others.
    """
    left, right = matching.sides
    partner = matching.relations.partner
    for alike in (True, False):
        if scope == "across" and not alike:
            return
        options: list[tuple[Slot, list[Slot]]] = []
        for (where, number), slots in pools[0].items():
            if (
                (not alike or scope == "across")
                and number in matching.prints.plain
                and not _telling(matching, number)
            ):
                continue
            others = [
                o
                for near in _near(matching.prints, number, float("inf"))
                for o in pools[1].get((where, near), ())
            ]
            by_family: dict[str, list[Slot]] = {}
            for other in others:
                if other[0] not in partner[1]:
                    by_family.setdefault(right.family(other[0]) if alike else "", []).append(other)
            free = [slot for slot in slots if slot[0] not in partner[0]]
            options += [
                (slot, by_family.get(left.family(slot[0]) if alike else "", [])) for slot in free
            ]
        options.sort(key=lambda option: (left.rank[option[0][0]], option[0][1]))
        for mine, theirs in increasing(options, lambda slot: right.rank[slot[0]]):
            both_free = mine[0] not in partner[0] and theirs[0] not in partner[1]
            if both_free and matching.relations.consistent(mine[0], theirs[0]):
                matching.join(mine, theirs, "across" if scope == "across" else "value+order")
