"""What a pass of the compiler changed: the nodes of a stage that the stage before did not have."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from explorer.model.graph import GradGraph, Node

MOST_OPS = 6
"""Operators that are named; the others are counted."""

Likeness = tuple[str, str, str, str]
"""What nodes of two stages have in common: ids are given anew after every pass."""


class StageChanges(msgspec.Struct, frozen=True):
    """The ids of the nodes that are new in a stage, and the operators that are new or gone."""

    new: frozenset[str]
    added: str
    removed: str


def stage_changes(before: GradGraph, after: GradGraph) -> StageChanges:
    """What changed from one stage to the next.

    Nodes are the same where operator, name, phase and the user's line are; of several alike the
    first ones.
    """
    old = Counter(_likeness(node) for node in before.nodes)
    remaining = old.copy()
    new = []
    for node in after.nodes:
        likeness = _likeness(node)
        if remaining[likeness]:
            remaining[likeness] -= 1
        else:
            new.append(node)
    added = Counter(node.op for node in new)
    removed: Counter[str] = Counter()
    for likeness, count in remaining.items():
        removed[likeness[0]] += count
    return StageChanges(frozenset(node.id for node in new), _listed(added), _listed(+removed))


def _likeness(node: Node) -> Likeness:
    return node.op, node.name, node.phase, node.source[0] if node.source else ""


def _listed(ops: Counter[str]) -> str:
    """Operators with their counts, the most frequent first: "4 Mul, 2 Cast, and 3 more"."""
    return ", ".join(_parts(ops))


def _parts(ops: Counter[str]) -> Iterator[str]:
    ranked = sorted(ops.items(), key=lambda item: (-item[1], item[0]))
    for op, count in ranked[:MOST_OPS]:
        yield f"{count} {op}"
    more = sum(count for _, count in ranked[MOST_OPS:])
    if more:
        yield f"+ {more}"
