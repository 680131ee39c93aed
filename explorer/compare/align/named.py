"""Divergences at what has a name: inputs, parameters and results, also those held in other pieces."""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from explorer.compare.align.contrasts import (
    NO_GAP,
    Contrast,
    FoundDivergence,
    alone,
    both,
    contrast,
    ends_of,
    place,
)
from explorer.compare.align.matching import Mismatch
from explorer.compare.align.vertices import OutputValue, Side, Vertex, as_seen
from explorer.compare.noise import CLEAR
from explorer.model.arrays import unpack
from explorer.model.divergence import LoneLeaf, OtherStart, ResultElsewhere, ResultMissing
from explorer.model.graph import Phase
from explorer.model.requests import Repacked
from explorer.numeric.summaries import summarise


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


def from_result(mismatch: Mismatch, phase: Phase) -> FoundDivergence:
    """A result whose maker has a partner on the other side that is not the result's maker there."""
    left, right = as_seen(mismatch.first, mismatch.second)
    values = contrast(left.result, right.result)
    return _elsewhere(phase, (left, right), values, left.name or left.id, are_whole=True)


def _elsewhere(
    phase: Phase, results: tuple[Vertex, Vertex], compared: Contrast, name: str, *, are_whole: bool
) -> FoundDivergence:
    """Two results that differ, the left side's first, with what makes them."""
    maker, other_maker = (node.inputs[0].node if node.inputs else node for node in results)
    divergence = ResultElsewhere(
        phase=phase,
        ends=ends_of(maker, compared, other_maker),
        gap=compared.gap,
        name=name,
        makers=both(maker, other_maker),
        do_correspond=are_whole and maker.partner is other_maker,
    )
    return FoundDivergence(divergence, frozenset(results))


def from_missing(result: Vertex) -> FoundDivergence:
    """Everything that both sides name agrees, but one of them has a gradient more."""
    divergence = ResultMissing(
        phase="backward",
        ends=ends_of(result, alone(result.result)),
        side=result.side.name,
        name=result.name,
    )
    return FoundDivergence(divergence, frozenset((result,)))


# Parameters that both graphs hold in other pieces, one after the other along the first axis


class Pieces(NamedTuple):
    """The gradients of a parameter that one side holds as a ``whole``, the other in ``parts``.

    ``names`` are those of PyTorch's gradients among them.
    """

    whole: Vertex
    parts: tuple[Vertex, ...]
    names: tuple[str, ...]


def mark_pieces(sides: Iterable[Side], repacked: Iterable[Repacked]) -> list[Pieces]:
    """Mark what the sides hold in other pieces, and return the gradients.

    A marked leaf is equal by construction, and a marked gradient is compared piece by piece.
    """
    gradients = []
    for piece in repacked:
        names = tuple(f"d{name}" for name in piece.torch)
        for side in sides:
            held, held_there = _named(side, piece.own), _named(side.other, piece.torch)
            if not (held and held_there):
                continue
            for node in (*held, *held_there):
                node.is_packed = True
            one, other = ([node for node in it if node.is_result] for it in (held, held_there))
            whole, parts = (one, other) if len(piece.own) == 1 else (other, one)
            if len(whole) == 1 and len(parts) == len(piece.own) + len(piece.torch) - 1:
                gradients.append(Pieces(whole[0], tuple(parts), names))
    return gradients


def _named(side: Side, names: Iterable[str]) -> list[Vertex]:
    """The leaves and gradients of parameters, in the order of their names."""
    by_name: dict[str, list[Vertex]] = {}
    for node in side.nodes:
        if node.is_leaf or node.is_result:
            by_name.setdefault(node.name, []).append(node)
    found = []
    for name in names:
        found += by_name.get(name, [])
        found += by_name.get(f"d{name}", [])
    return found


def differing_pieces(
    gradients: Iterable[Pieces], alike: Collection[str]
) -> Iterator[FoundDivergence]:
    """The gradients that differ in a piece by more than its noise, each at the one that differs most.

    At the first one where elements are not known. ``alike`` names those that are known not to differ.
    """
    for gradient in gradients:
        found: list[tuple[float, FoundDivergence]] = []
        start = 0
        for part in () if set(gradient.names) <= set(alike) else gradient.parts:
            rows = part.result.shape[0] if part.result.shape else 0
            piece = _beside(gradient.whole, slice(start, start + rows), part)
            start += rows
            gap = piece.divergence.gap if piece.divergence else NO_GAP
            is_equal = gap.greatest == 0 if gap.ratio is None else gap.ratio <= CLEAR
            if not is_equal:
                found.append((gap.greatest or 0.0, piece))
        if found:
            yield max(found, key=lambda it: it[0])[1]


def _beside(whole: Vertex, rows: slice, part: Vertex) -> FoundDivergence:
    """Some rows of a gradient beside the piece that they should be."""
    value = whole.result
    if value.whole is not None:
        array = unpack(value.whole)[rows]
        value = OutputValue(whole, 0, array.shape, summarise(array, value.whole.dtype), value.noise)
    values = {whole: value, part: part.result}
    left, right = as_seen(whole, part)
    compared = contrast(values[left], values[right])
    return _elsewhere("backward", (left, right), compared, part.name, are_whole=False)
