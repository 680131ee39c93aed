"""Why a node has no partner."""

from collections.abc import Iterator

from explorer.compare.align.families import BOOKKEEPING
from explorer.compare.align.finding import Finding
from explorer.compare.align.side import LEAVES, WORK
from explorer.compare.align.state import Matching
from explorer.compare.align.suspects import BUFFER, suspects
from explorer.model.alignment import Reason, SideName, Unpaired

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
            if matching.pair_of(index, node) is not None:
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
        if BUFFER.search(found.name) and found.kind != "output":
            return (
                "bookkeeping",
                f"`{found.name}` holds other values in {opposite}, which may be before or after an update",
            )
        return "difference", f"`{found.name or found.op}` has another value in {opposite}"
    if found.kind == "output":
        return (
            "unobserved" if found.phase == "forward" else "difference"
        ), f"{opposite} has no result `{found.name}`"
    return None


def _spoiled_by(finding: Finding, spoiled: set[str], index: int, node: str) -> Why | None:
    if node in finding.parts[index]:
        return "difference", "equal inputs, another value"
    return ("consequence", "computed from values that differ") if node in spoiled else None


def _spoiled(matching: Matching, finding: Finding, index: int) -> set[str]:
    """All unpaired nodes that lead to a result that differs, or follow from where the graphs part."""
    side = matching.sides[index]
    results = [
        pair[index] for pair in matching.differing if side.nodes[pair[index]].kind == "output"
    ]
    fronts = [node for node in results if side.nodes[node].phase == "forward"]
    found = set(suspects(matching, index, fronts, "forward").nodes) if fronts else set()
    found |= (
        set(suspects(matching, index, results, "forward" if fronts else "backward").nodes)
        if results
        else set()
    )
    found |= finding.parts[index]
    for node in side.ordered():
        if node not in matching.relations.partner[index] and any(
            origin in found for origin, _ in side.inputs[node]
        ):
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
        return (
            "bookkeeping",
            f"the numbers of {side.nodes[matching.relations.root[index][node]].op}, in another shape or dtype",
        )
    if side.family(node) in BOOKKEEPING:
        return "bookkeeping", "it spreads, bundles or fills in numbers and computes none"
    if needed is not None and node not in needed:
        return "bookkeeping", "no result depends on it"
    return None


class Regions:
    """Unpaired work of both sides that leads to the same pairs, counted: the side with more of it
    is the decomposed one.
    """

    def __init__(self, matching: Matching) -> None:
        """Joins unpaired nodes with what consumes them in their own phase, across sides where that
        is a pair.
        """
        self._matching = matching
        self._up: dict[str, str] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._towards: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self._slots = [
            {number: slot for slot, number in reversed(found.items())}
            for found in matching.prints.classes
        ]
        for index, side in enumerate(matching.sides):
            for node in reversed(side.ordered()):
                if node not in matching.relations.partner[index]:
                    self._lead(index, node)
        for index, side in enumerate(matching.sides):
            for node, found in side.nodes.items():
                if (
                    node not in matching.relations.partner[index]
                    and found.kind in WORK
                    and side.family(node) not in BOOKKEEPING
                ):
                    top = self._top(f"{index}{node}"), index
                    self._counts[top] = self._counts.get(top, 0) + 1

    def _lead(self, index: int, node: str) -> None:
        """Joins a node with its consumers, and notes the first pair that it leads to."""
        side, partner = self._matching.sides[index], self._matching.relations.partner[index]
        towards = self._towards[index]
        exits = []
        for consumer in side.consumers[node]:
            if (
                side.nodes[consumer].phase == side.nodes[node].phase
                and side.nodes[node].kind in WORK
            ):
                left = consumer if index == 0 else partner.get(consumer)
                self._join(
                    f"{index}{node}", f"={left}" if consumer in partner else f"{index}{consumer}"
                )
                exits.append(consumer if consumer in partner else towards.get(consumer))
        found = [exit_ for exit_ in exits if exit_ is not None]
        if found:
            towards[node] = min(found, key=side.rank.__getitem__)

    def why(self, index: int, node: str) -> Why:
        """Decomposed or fused, and towards which op."""
        top = self._top(f"{index}{node}")
        mine, theirs = (self._counts.get((top, side), 0) for side in (index, 1 - index))
        side, opposite = self._matching.sides[index], self._matching.sides[1 - index]
        number = self._matching.prints.classes[index].get(side.slot(node), -1)
        for near in (number, *self._matching.prints.near.get(number, ())):
            held = self._slots[1 - index].get(near)
            if held is not None and held[1] != opposite.main(held[0]):
                return (
                    "decomposed",
                    f"output {held[1]} of `{opposite.nodes[held[0]].op}` in {opposite.engine}",
                )
        found = self._towards[index].get(node)
        goal = "what follows"
        if found is not None:
            there = opposite.nodes[self._matching.relations.partner[index][found]]
            goal = f"the result `{there.name}`" if there.kind == "output" else f"`{there.op}`"
        if mine < theirs:
            return (
                "fused",
                f"{opposite.engine} takes {theirs} ops where this graph takes {mine or 'none'}, towards {goal}",
            )
        between = f"{theirs or 'no'} {'op' if theirs == 1 else 'ops'} of its own between"
        return (
            "decomposed",
            f"a step towards {goal}, which {opposite.engine} reaches with {between}",
        )

    def _top(self, key: str) -> str:
        path = []
        while self._up.get(key, key) != key:
            path.append(key)
            key = self._up[key]
        self._up.update(dict.fromkeys(path, key))
        return key

    def _join(self, one: str, other: str) -> None:
        self._up[self._top(other)] = self._top(one)
