"""The record of a divergence that was found, and the words that it is told in."""

from dataclasses import dataclass
from typing import Literal

from explorer.compare.align.contrast import Contrast, contrast
from explorer.compare.align.side import Side, Slot
from explorer.compare.align.state import Matching
from explorer.model.alignment import Divergence

Phase = Literal["forward", "backward"]


@dataclass(frozen=True)
class Finding:
    """A divergence, and every node of either side that takes part in it."""

    divergence: Divergence | None
    parts: tuple[frozenset[str], frozenset[str]]


NOTHING = Finding(None, (frozenset(), frozenset()))


def one_sided(
    matching: Matching,
    index: int,
    node: str,
    phase: Phase,
    sentence: str,
    reads: tuple[str, str],
    greatest: float | None,
    parts: frozenset[str],
    user: str | None,
) -> Finding:
    """A divergence at a node that the other side has no counterpart of."""
    source = matching.sides[index].source(node) or (
        matching.sides[index].source(user) if user else ""
    )
    both = (reads, (source, "")) if index == 0 else (reads[::-1], ("", source))
    divergence = Divergence(
        left=node if index == 0 else None,
        right=node if index == 1 else None,
        phase=phase,
        sentence=sentence,
        left_source=both[1][0],
        right_source=both[1][1],
        left_value=both[0][0],
        right_value=both[0][1],
        greatest=greatest,
    )
    return Finding(divergence, (parts, frozenset()) if index == 0 else (frozenset(), parts))


def found_both(
    matching: Matching,
    pair: tuple[str, str],
    phase: Phase,
    sentence: str,
    values: tuple[str, str, float | None],
    parts: tuple[set[str], set[str]],
) -> Finding:
    """A divergence between a node of each side."""
    divergence = Divergence(
        left=pair[0],
        right=pair[1],
        phase=phase,
        sentence=sentence,
        left_source=matching.sides[0].source(pair[0]),
        right_source=matching.sides[1].source(pair[1]),
        left_value=values[0],
        right_value=values[1],
        greatest=values[2],
    )
    return Finding(divergence, (frozenset(parts[0]), frozenset(parts[1])))


def compared(matching: Matching, left: Slot, right: Slot) -> Contrast:
    """A left value against a right one, in words."""
    return contrast(matching.sides[0].shown(left), matching.sides[1].shown(right))


def line_of(side: Side, nodes: list[str]) -> str:
    """Ops in a row: the first as a reader finds it, and the last by name."""
    if len(nodes) == 1:
        return side.named(nodes[0])
    return f"the {len(nodes)} ops from {side.named(nodes[0])} to `{side.nodes[nodes[-1]].op}`"


def tail(greatest: float | None, note: str) -> str:
    """What is known about a difference, in brackets."""
    parts = ([f"greatest difference {greatest:.3g}"] if greatest is not None else []) + (
        [note] if note else []
    )
    return f" ({'; '.join(parts)})" if parts else ""
