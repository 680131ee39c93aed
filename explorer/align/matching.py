"""One-to-one pairing of nodes that hold the same values: unique values first, then provenance, then order."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from explorer.align.fingerprints import TIGHT, Prints, agree, elements, scales
from explorer.align.order import increasing
from explorer.align.provenance import Relations, relate
from explorer.align.records import How
from explorer.align.side import LEAVES, WORK, Side, Slot

Bin = tuple[str, str]
Pool = dict[tuple[Bin, int], list[Slot]]

ROUNDS: tuple[tuple[str, bool], ...] = (("same", True), ("same", False), ("across", True))
"""Which nodes may pair, and whether by their main output only: first like with like, at last over phases and with constants."""

SWEEPS = 6
"""How often provenance is followed up and down the graph; each sweep works from the pairs of the one before."""


@dataclass
class Matching:
    """The pairs found so far, and what the sides look like to whoever looks for more.

    ``differing`` are leaves and results that share a name and not a value.
    """

    sides: tuple[Side, Side]
    prints: Prints
    relations: Relations
    rtol: float
    atol: float
    found: list[tuple[Slot, Slot, How]] = field(default_factory=list)
    differing: list[tuple[str, str]] = field(default_factory=list)
    named: set[str] = field(default_factory=set)

    def join(self, left: Slot, right: Slot, how: How) -> None:
        """Makes a pair."""
        self.found.append((left, right, how))
        mains = left == self.sides[0].slot(left[0]), right == self.sides[1].slot(right[0])
        self.relations.join(left[0], right[0], mains)

    def held(self, left: Slot, right: Slot) -> bool | None:
        """Whether two slots hold the same numbers, up to layout; None when one was not observed."""
        one, other = self.prints.classes[0].get(left), self.prints.classes[1].get(right)
        return None if one is None or other is None else self.prints.same(one, other)

    def layout(self, left: Slot, right: Slot, slack: float = 10.0) -> How | None:
        """How one shape's equal numbers lie differently, as far as every element is known: "transposed", "reordered" or None."""
        one, other = (side.value(slot) for side, slot in zip(self.sides, (left, right), strict=True))
        if one is None or other is None or one.whole is None or other.whole is None:
            return None
        if one.whole.shape != other.whole.shape or one.whole.data == other.whole.data:
            return None
        mine, theirs = elements(one.whole), elements(other.whole)
        coarse = max(self.relations.grain(0, left[0]), self.relations.grain(1, right[0]))
        scale = float(scales(np.array([other.quantiles], np.float64))[0]) if other.quantiles else 0.0
        rtol, floor = slack * max(self.rtol, coarse), slack * max(self.atol, coarse) * scale
        if agree(mine, theirs, rtol, floor):
            return None
        shape = one.whole.shape
        turned = len(shape) == 2 and agree(mine.reshape(shape).T.ravel(), theirs, rtol, floor)
        return "transposed" if turned else "reordered"


def match(sides: tuple[Side, Side], prints: Prints, rtol: float, atol: float) -> Matching:
    """Pairs the nodes of two sides; the same graphs always give the same pairs, in order of discovery."""
    matching = Matching(sides, prints, relate(sides, prints), rtol, atol)
    _leaves(matching)
    for scope, main in ROUNDS:
        bins = _like if scope == "same" else _any
        pools = tuple(_pool(matching, index, bins, main) for index in (0, 1))
        _unique(matching, pools, scope, TIGHT)
        _unique(matching, pools, scope, float("inf"))
        _provenance(matching, bins, main, scope)
        pools = tuple(_pool(matching, index, bins, main) for index in (0, 1))
        _in_order(matching, pools, scope)
    _unobserved(matching)
    _results(matching)
    return matching


def _leaves(matching: Matching) -> None:
    """Inputs and parameters pair by name; those whose values differ are kept apart, so that they pair with nothing else."""
    leaves = [[node for node in side.ordered() if side.nodes[node].kind in LEAVES] for side in matching.sides]
    by_name = [{side.nodes[n].name: n for n in reversed(nodes)} for side, nodes in zip(matching.sides, leaves, strict=True)]
    for name in [name for name in reversed(by_name[0]) if name and name in by_name[1]]:
        left, right = by_name[0][name], by_name[1][name]
        slots = matching.sides[0].slot(left), matching.sides[1].slot(right)
        matching.named |= {f"0{left}", f"1{right}"}
        if matching.held(*slots) is False:
            matching.differing.append((left, right))
        else:
            matching.join(*slots, "name")


def _like(side: Side, node: str) -> Bin | None:
    """Nodes pair within a phase, and within leaves, constants, or work."""
    found = side.nodes[node]
    kind = "work" if found.kind in WORK else "leaf" if found.kind in LEAVES else found.kind
    return None if kind == "output" else (found.phase, kind)


def _any(side: Side, node: str) -> Bin | None:
    """Work may be done in the other phase, or folded into a constant; leaves stay leaves."""
    return ("any", "any") if side.nodes[node].kind in WORK | {"constant"} else None


def _pool(matching: Matching, index: int, bins: Callable[[Side, str], Bin | None], main: bool) -> Pool:
    side, classes, pool = matching.sides[index], matching.prints.classes[index], Pool()
    for node in side.ordered():
        where = bins(side, node)
        if where is None or node in matching.relations.partner[index] or f"{index}{node}" in matching.named:
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
    """A value that exactly one free node of each side holds; numbers repeated throughout a tensor prove nothing."""
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
            if len(back) == 1 and matching.held(back[0], theirs[0]):
                matching.join(back[0], theirs[0], "across" if scope == "across" else "value")


def _telling(matching: Matching, number: int) -> bool:
    """Whether a value that is one number over and over still says something: one element, and not 0 or ±1."""
    return matching.relations.scalars.get(number, 0.0) not in {0.0, 1.0, -1.0}


def _provenance(matching: Matching, bins: Callable[[Side, str], Bin | None], main: bool, scope: str) -> None:
    """Among equal values, a node's partner is fed by, feeds, or derives from the partners of its neighbours."""
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
                for other in relations.candidates((node, slot)):
                    if bins(right, other[0]) == where and f"1{other[0]}" not in matching.named:
                        score = (*relations.score((node, slot), other, matching.layout), -right.rank[other[0]])
                        if best is None or score > best[0]:
                            best = score, (node, slot), other
            if best and best[0][0] > 0:
                matching.join(best[1], best[2], "across" if scope == "across" else "value+provenance")
        if len(matching.found) == before and sweep:
            break


def _in_order(matching: Matching, pools: tuple[Pool, ...], scope: str) -> None:
    """What is still ambiguous pairs along the longest sequence that both execution orders agree on, like ops before others."""
    left, right = matching.sides
    partner = matching.relations.partner
    for alike in (True, False):
        if scope == "across" and not alike:
            return
        options: list[tuple[Slot, list[Slot]]] = []
        for (where, number), slots in pools[0].items():
            if not alike and number in matching.prints.plain and not _telling(matching, number):
                continue
            others = [o for near in _near(matching.prints, number, float("inf")) for o in pools[1].get((where, near), ())]
            by_family: dict[str, list[Slot]] = {}
            for other in others:
                if other[0] not in partner[1]:
                    by_family.setdefault(right.family(other[0]) if alike else "", []).append(other)
            free = [slot for slot in slots if slot[0] not in partner[0]]
            options += [(slot, by_family.get(left.family(slot[0]) if alike else "", [])) for slot in free]
        options.sort(key=lambda option: (left.rank[option[0][0]], option[0][1]))
        for mine, theirs in increasing(options, lambda slot: right.rank[slot[0]]):
            if mine[0] not in partner[0] and theirs[0] not in partner[1]:
                matching.join(mine, theirs, "across" if scope == "across" else "value+order")


def _unobserved(matching: Matching) -> None:
    """A value that one side did not observe, or that is rounding noise about zero, pairs where op and all inputs do."""
    left, right = matching.sides
    relations = matching.relations
    for node in left.ordered():
        if node in relations.partner[0] or left.nodes[node].kind not in WORK:
            continue
        for other in relations.successors(node):
            slots = left.slot(node), right.slot(other)
            if matching.held(*slots) is None or _noise(matching, *slots):
                matching.join(*slots, "provenance")
                break


def _noise(matching: Matching, left: Slot, right: Slot) -> bool:
    known = [side.value(slot) for side, slot in zip(matching.sides, (left, right), strict=True)]
    same_size = matching.sides[0].size(left) == matching.sides[1].size(right)
    return same_size and all(k is not None and not k.nonfinite and max(-k.minimum, k.maximum) <= matching.atol for k in known)


def _results(matching: Matching) -> None:
    """Named results pair by phase and name, the rest by what feeds them; a result is never matched away by another's value."""
    left, right = matching.sides
    rest = [side.results() for side in matching.sides]
    names = [{(s.nodes[n].phase, s.nodes[n].name): n for n in reversed(r)} for s, r in zip(matching.sides, rest, strict=True)]
    both = [(names[0][key], names[1][key]) for key in reversed(names[0]) if key[1] and key in names[1]]
    for index in (0, 1):
        taken = {pair[index] for pair in both}
        rest[index] = [n for n in rest[index] if n not in taken]
    for phase in ("forward", "backward"):
        mine, theirs = ([n for n in r if s.nodes[n].phase == phase] for r, s in zip(rest, matching.sides, strict=True))
        if len(mine) == len(theirs):
            both += list(zip(mine, theirs, strict=True))
    turned = {left.nodes[one[0]].name for one, other, how in matching.found if how == "name" and matching.layout(one, other)}
    for one, other in both:
        if _equal_results(matching, left.result(one), right.result(other), left.nodes[one].name.removeprefix("d") in turned):
            matching.join(left.slot(one), right.slot(other), "name")
        else:
            matching.differing.append((one, other))


def _equal_results(matching: Matching, left: Slot, right: Slot, any_layout: bool) -> bool:
    """Results agree element by element (in any order where their parameter is stored in another one); noise about zero agrees."""
    held = matching.held(left, right)
    if held is None:
        return True
    known = [side.value(slot) for side, slot in zip(matching.sides, (left, right), strict=True)]
    if matching.sides[0].size(left) != matching.sides[1].size(right):
        return False
    if all(k is not None and not k.nonfinite and max(-k.minimum, k.maximum) <= 10 * matching.atol for k in known):
        return True
    return held and (any_layout or matching.layout(left, right) is None)
