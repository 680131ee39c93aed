"""What lies between a result that differs and the last values that agree: where to look for the
first divergence.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from explorer.compare.align.families import BOOKKEEPING
from explorer.compare.align.side import LEAVES
from explorer.compare.align.state import Matching

BUFFER = re.compile(r"(running_|moving_|num_batches)")
_SILENT = frozenset({"expand", "tuple", "fill"})
"""Families that spread or bundle values: never themselves where graphs part."""


@dataclass(frozen=True)
class Suspects:
    """One side's unpaired nodes on the way to results that differ, in execution order, and those of
    them whose inputs agree.
    """

    nodes: tuple[str, ...]
    entries: tuple[str, ...]


def suspects(matching: Matching, index: int, results: Iterable[str], phase: str) -> Suspects:
    """Walks back from results through nodes without a partner; in backward, a forward with equal
    results is above suspicion.
    """
    side = matching.sides[index]
    found: set[str] = set()
    stack = [node for node in results if side.nodes[node].kind != "output"]
    stack += [
        origin
        for node in results
        if side.nodes[node].kind == "output"
        for origin, _ in side.inputs[node]
    ]
    while stack:
        node = stack.pop()
        if node not in found and not settled(matching, index, node, phase):
            found.add(node)
            stack.extend(origin for origin, _ in side.inputs[node])
    ordered = sorted(found, key=side.rank.__getitem__)
    behind: set[str] = set()
    entries = []
    for node in ordered:
        loud = side.main(node) >= 0 and (
            side.family(node) not in _SILENT or side.nodes[node].kind in LEAVES
        )
        if any(origin in behind for origin, _ in side.inputs[node]):
            behind.add(node)
        elif loud or side.nodes[node].kind in LEAVES:
            behind.add(node)
            entries.append(node)
    return Suspects(tuple(ordered), tuple(entries or ordered[:1]))


def settled(matching: Matching, index: int, node: str, phase: str) -> bool:
    """Whether a node's value is known to agree, or is no business of the phase that is looked into."""
    found = matching.sides[index].nodes[node]
    relations = matching.relations
    if (
        relations.root[index].get(node, node) in relations.roots[index]
        or node in relations.agreed[index]
    ):
        return True
    if found.kind in LEAVES:
        # A buffer may be observed before or after its update: it is named beside the op that reads
        # it, never blamed alone.
        plain = matching.prints.classes[index].get((node, 0)) in matching.prints.plain
        return bool(BUFFER.search(found.name)) or (found.phase == "backward" and plain)
    return found.kind == "constant" or (phase == "backward" and found.phase == "forward")


def stretch(matching: Matching, index: int, among: Suspects, entry: str) -> list[str]:
    """The suspects from an entry on that the same line of the same module made: one thing a person
    wrote, in several ops.
    """
    side = matching.sides[index]
    first = side.nodes[entry]
    if first.kind in LEAVES or not (first.scope or first.source):
        return [entry]
    found = {entry}
    for node in among.nodes:
        other = side.nodes[node]
        alike = (other.phase, other.scope, other.source[:1]) == (
            first.phase,
            first.scope,
            first.source[:1],
        )
        if alike and any(origin in found for origin, _ in side.inputs[node]):
            found.add(node)
    return [node for node in among.nodes if node in found and side.main(node) >= 0] or [entry]


def downstream(matching: Matching, index: int, among: Suspects, entry: str) -> list[str]:
    """The suspects computed from an entry, without it."""
    side = matching.sides[index]
    found = {entry}
    for node in among.nodes:
        if any(origin in found for origin, _ in side.inputs[node]):
            found.add(node)
    return [node for node in among.nodes if node in found and node != entry]


def unpaired_onwards(matching: Matching, index: int, first: str) -> list[str]:
    """A forward node and all forward nodes that follow from it before values agree again."""
    side = matching.sides[index]
    found = {first: None}
    for node in (stack := [first]):
        for consumer in side.consumers[node]:
            forward = (
                side.nodes[consumer].phase == "forward" and side.nodes[consumer].kind != "output"
            )
            if (
                forward
                and consumer not in found
                and not settled(matching, index, consumer, "forward")
            ):
                found[consumer] = None
                stack.append(consumer)
    return list(found)


def lineage(matching: Matching, index: int, among: Suspects, last: str) -> list[str]:
    """The observed suspects that a suspect was computed from, and itself, in execution order."""
    side = matching.sides[index]
    found, stack, members = {last}, [last], set(among.nodes)
    while stack:
        for origin, _ in side.inputs[stack.pop()]:
            if origin in members and origin not in found:
                found.add(origin)
                stack.append(origin)
    return [node for node in among.nodes if node in found and side.main(node) >= 0]


def shared(matching: Matching, left: str, right: str) -> int:
    """How many inputs of a left node and of a right one are the same quantity."""
    relations = matching.relations
    wanted = {relations.roots[0].get(origin) for origin in relations.origins(0, left)} - {None}
    return len(wanted & set(relations.origins(1, right)))


def same_work(matching: Matching, left: str, right: str) -> bool:
    """Whether two nodes are the same kind of op, as far as the names tell."""
    families = matching.sides[0].family(left), matching.sides[1].family(right)
    return families[0] == families[1] and families[0] not in BOOKKEEPING
