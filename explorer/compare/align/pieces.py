"""Parameters that both graphs hold in other pieces, one after the other along the first axis."""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from explorer.compare.align.contrasts import NO_GAP, FoundDivergence, both, contrast, ends_of
from explorer.compare.align.vertices import OutputValue, Side, Vertex, as_seen
from explorer.compare.graphs.sameness import CLEAR
from explorer.model.arrays import unpack
from explorer.model.divergence import ResultElsewhere
from explorer.model.requests import Repacked
from explorer.numeric.summaries import summarise


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
            one, other = _results(held), _results(held_there)
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


def _results(nodes: Iterable[Vertex]) -> list[Vertex]:
    return [node for node in nodes if node.is_result]


def differing_pieces(
    gradients: Iterable[Pieces], alike: Collection[str]
) -> Iterator[FoundDivergence]:
    """The gradients that differ in a piece, each at the one that differs most.

    ``alike`` names those that are known not to differ.
    """
    for gradient in gradients:
        if not set(gradient.names) <= set(alike):
            yield from _farthest(gradient)


def _farthest(gradient: Pieces) -> Iterator[FoundDivergence]:
    """The piece of a gradient that differs most, if one does by more than its noise.

    The first one where its elements are not known.
    """
    found: list[FoundDivergence] = []
    start = 0
    for part in gradient.parts:
        rows = part.result.shape[0] if part.result.shape else 0
        piece = _beside(gradient.whole, slice(start, start + rows), part)
        if not _is_equal(piece):
            found.append(piece)
        start += rows
    if found:
        yield max(found, key=_size)


def _is_equal(finding: FoundDivergence) -> bool:
    """Whether a piece differs by no more than its noise; not at all where that is not known."""
    gap = finding.divergence.gap if finding.divergence else NO_GAP
    return gap.greatest == 0 if gap.ratio is None else gap.ratio <= CLEAR


def _size(finding: FoundDivergence) -> float:
    divergence = finding.divergence
    return (divergence.gap.greatest or 0.0) if divergence else 0.0


def _beside(whole: Vertex, rows: slice, part: Vertex) -> FoundDivergence:
    """Some rows of a gradient beside the piece that they should be."""
    value = whole.result
    if value.whole is not None:
        array = unpack(value.whole)[rows]
        value = OutputValue(whole, 0, array.shape, summarise(array, value.whole.dtype), value.noise)
    values = {whole: value, part: part.result}
    left, right = as_seen(whole, part)
    makers = [node.inputs[0].node if node.inputs else node for node in (left, right)]
    compared = contrast(values[left], values[right])
    divergence = ResultElsewhere(
        phase="backward",
        ends=ends_of(makers[0], compared, makers[1]),
        gap=compared.gap,
        name=part.name,
        makers=both(*makers),
    )
    return FoundDivergence(divergence, frozenset((left, right)))
