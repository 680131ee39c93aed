"""Divergences at leaves: inputs and parameters that differ, or that only one side has."""

from explorer.compare.align.contrasts import FoundDivergence, alone, contrast, ends_of, place
from explorer.compare.align.matching import Mismatch
from explorer.compare.align.vertices import Vertex, as_seen
from explorer.model.divergence import LoneLeaf, OtherStart
from explorer.model.graph import Phase


def from_leaf(mismatch: Mismatch, phase: Phase = "forward") -> FoundDivergence:
    """A leaf from whose values the two nets start differently."""
    left, right = as_seen(mismatch.first, mismatch.second)
    values = contrast(left.value, right.value)
    divergence = OtherStart(
        phase=phase, ends=ends_of(left, values, right), gap=values.gap, name=left.name
    )
    return FoundDivergence(divergence, frozenset((left, right)), ends=(left, right))


def from_lone_leaf(
    leaf: Vertex, user: Vertex | None, phase: Phase, *, is_unread: bool = False
) -> FoundDivergence:
    """A leaf that only one side has, or reads (``is_unread``); ``user`` is what reads it."""
    divergence = LoneLeaf(
        phase=phase,
        ends=ends_of(leaf, alone(leaf.value), source=user.source if user else ""),
        side=leaf.side.name,
        leaf=leaf.kind,
        name=leaf.name or leaf.op,
        user=place(user) if user else None,
        is_unread=is_unread,
    )
    return FoundDivergence(divergence, frozenset((leaf, user) if user else (leaf,)))
