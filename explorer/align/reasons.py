"""Why a node has no partner."""

from collections.abc import Iterator

from explorer.align.divergence import Finding
from explorer.align.families import BOOKKEEPING
from explorer.align.matching import Matching
from explorer.align.records import Reason, SideName, Unpaired
from explorer.align.side import LEAVES
from explorer.align.suspects import suspects

Why = tuple[Reason, str]
_SIDES: tuple[SideName, SideName] = ("left", "right")


def reasons(matching: Matching, finding: Finding) -> Iterator[Unpaired]:
    """Every node without a partner, left side first, in execution order."""
    regions = Regions(matching)
    for index, name in enumerate(_SIDES):
        side = matching.sides[index]
        spoiled = _spoiled(matching, finding, index)
        needed = _needed(matching, index)
        for node in side.ordered():
            if node in matching.relations.partner[index]:
                continue
            why = (
                _named_difference(matching, index, node)
                or _spoiled_by(finding, spoiled, index, node)
                or _plain(matching, index, node, needed)
                or regions.why(index, node)
            )
            yield Unpaired(side=name, node=node, reason=why[0], detail=why[1])


def _named_difference(matching: Matching, index: int, node: str) -> Why | None:
    found = matching.sides[index].nodes[node]
    opposite = matching.sides[1 - index].engine
    if any(pair[index] == node for pair in matching.differing):
        return "difference", f"`{found.name or found.op}` has another value in {opposite}"
    if found.kind == "output":
        return ("unobserved" if found.phase == "forward" else "difference"), f"{opposite} has no result `{found.name}`"
    return None


def _spoiled_by(finding: Finding, spoiled: set[str], index: int, node: str) -> Why | None:
    if node in finding.parts[index]:
        return "difference", "equal inputs, another value"
    return ("consequence", "computed from values that differ") if node in spoiled else None


def _spoiled(matching: Matching, finding: Finding, index: int) -> set[str]:
    """All unpaired nodes that lead to a result that differs, or follow from where the graphs part."""
    side = matching.sides[index]
    results = [pair[index] for pair in matching.differing if side.nodes[pair[index]].kind == "output"]
    fronts = [node for node in results if side.nodes[node].phase == "forward"]
    found = set(suspects(matching, index, fronts, "forward").nodes) if fronts else set()
    found |= set(suspects(matching, index, results, "forward" if fronts else "backward").nodes) if results else set()
    found |= finding.parts[index]
    for node in side.ordered():
        if node not in matching.relations.partner[index] and any(origin in found for origin, _ in side.inputs[node]):
            found.add(node)
    return found


def _needed(matching: Matching, index: int) -> set[str] | None:
    """The nodes that some result depends on; None when the graph names no results."""
    side = matching.sides[index]
    stack = side.results()
    if not stack:
        return None
    needed = set(stack)
    while stack:
        for origin, _ in side.inputs[stack.pop()]:
            if origin not in needed:
                needed.add(origin)
                stack.append(origin)
    return needed


def _plain(matching: Matching, index: int, node: str, needed: set[str] | None) -> Why | None:
    side, found = matching.sides[index], matching.sides[index].nodes[node]
    opposite = matching.sides[1 - index].engine
    if found.kind == "constant":
        return "bookkeeping", f"a constant that {opposite} does not hold as a node"
    if found.kind in LEAVES:
        return "bookkeeping", f"{opposite} does not list it, and no result differs for that"
    if side.main(node) < 0:
        return "unobserved", found.missing.get("values", "its value was not observed")
    if matching.relations.root[index][node] != node:
        return "bookkeeping", f"the numbers of {side.nodes[matching.relations.root[index][node]].op}, in another shape or dtype"
    if side.family(node) in BOOKKEEPING:
        return "bookkeeping", "it spreads, bundles or fills in numbers and computes none"
    if needed is not None and node not in needed:
        return "bookkeeping", "no result depends on it"
    return None


class Regions:
    """Unpaired nodes of both sides that lead to the same pairs, counted: the side with more of them is the decomposed one."""

    def __init__(self, matching: Matching) -> None:
        """Joins unpaired nodes with what consumes them, across sides where that is a pair."""
        self._matching = matching
        self._up: dict[str, str] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._exit: dict[str, tuple[int, str]] = {}
        partner = matching.relations.partner
        for index, side in enumerate(matching.sides):
            for node in side.ordered():
                if node in partner[index]:
                    continue
                for consumer in side.consumers[node]:
                    self._join(f"{index}{node}", self._key(index, consumer))
        for index, side in enumerate(matching.sides):
            for node in side.ordered():
                if node not in partner[index] and self._counted(index, node):
                    top = self._top(f"{index}{node}"), index
                    self._counts[top] = self._counts.get(top, 0) + 1
            for node in side.ordered():
                if node in partner[index] and self._key(index, node) in self._up:
                    self._exit.setdefault(self._top(self._key(index, node)), (index, node))

    def why(self, index: int, node: str) -> Why:
        """Decomposed or fused, and towards which op."""
        top = self._top(f"{index}{node}")
        mine, theirs = (self._counts.get((top, side), 0) for side in (index, 1 - index))
        opposite = self._matching.sides[1 - index]
        found = self._exit.get(top)
        ops = "what follows"
        if found is not None:
            there = found[1] if found[0] == 1 - index else self._matching.relations.partner[index][found[1]]
            ops = f"`{opposite.nodes[there].op}`"
        if mine < theirs:
            return "fused", f"{opposite.engine} takes {theirs} ops where this graph takes {mine}, towards {ops}"
        return "decomposed", f"a step towards {ops}, which {opposite.engine} reaches with {theirs or 'no'} ops of its own between"

    def _counted(self, index: int, node: str) -> bool:
        return self._matching.sides[index].nodes[node].kind not in LEAVES | {"constant"}

    def _key(self, index: int, node: str) -> str:
        left = node if index == 0 else self._matching.relations.partner[1].get(node)
        paired = node in self._matching.relations.partner[index]
        return f"={left}" if paired else f"{index}{node}"

    def _top(self, key: str) -> str:
        path = []
        while self._up.get(key, key) != key:
            path.append(key)
            key = self._up[key]
        self._up.update(dict.fromkeys(path, key))
        return key

    def _join(self, one: str, other: str) -> None:
        tops = self._top(one), self._top(other)
        self._up.setdefault(tops[0], tops[0])
        self._up[tops[1]] = tops[0]
