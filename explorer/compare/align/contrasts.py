"""What is read of two values that should have been equal, of their nodes, and of leaves and results so."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from explorer.compare.align.matching import Mismatch
from explorer.compare.align.sameness import noise_at
from explorer.compare.align.vertices import OutputValue, Side, Vertex, as_seen
from explorer.compare.graphs.sameness import CLEAR, greatest, ratios, within
from explorer.model.arrays import unpack
from explorer.model.divergence import (
    ABSENT,
    Divergence,
    End,
    Gap,
    Likeness,
    LoneLeaf,
    OtherStart,
    Place,
    Reading,
    Readings,
    ResultElsewhere,
    ResultMissing,
    Row,
    mirrored,
)
from explorer.model.graph import Phase
from explorer.model.requests import Repacked
from explorer.numeric.differences import Floats, elementwise_difference, real_parts
from explorer.numeric.summaries import summarise

FEW_ELEMENTS = 6
"""A value of at most so many elements is read as a whole."""

ALIKE = 1e-4, 1e-7
"""(rtol, atol) within which two values are the same in another order, or by a factor."""

UNEXPLAINED = 0.01
"""The part of a difference that may be left where values are said to differ in order alone.

Two that each rise a little towards 1, and are not the same, are close in ascending order too.
"""


@dataclass(frozen=True)
class FoundDivergence:
    """A divergence, and every node of either side that takes part in it.

    ``ends`` are a node of each side that would be the same quantity but for the divergence, where
    there are such. ``goes_on`` is what one side does instead of ops that the other alone has. Those
    that are ``laid`` before put numbers that both sides have in an order of their own, or take them
    apart: their gradients differ with it.
    """

    divergence: Divergence
    parts: frozenset[Vertex]
    ends: tuple[Vertex, Vertex] | None = None
    goes_on: Vertex | None = None
    laid: frozenset[Vertex] = frozenset()


class Contrast(NamedTuple):
    """Two values that should have been equal, one after the other, and by how much they differ."""

    values: Readings
    gap: Gap = Gap()


# Nodes


def place(node: Vertex) -> Place:
    """A node as a reader finds it.

    Where a net calls that line from several, the one that did so here is part of it.
    """
    is_called = len(node.side.callers[node.scope, node.source]) > 1
    return Place(
        label=node.name if node.is_leaf and node.name else node.op,
        scope=node.scope,
        source=node.source,
        caller=node.caller if is_called else "",
    )


def row_of(nodes: list[Vertex]) -> Row:
    """Ops in a row."""
    return Row(first=place(nodes[0]), last=nodes[-1].op, count=len(nodes), end=nodes[-1].id)


def both(node: Vertex, other: Vertex) -> tuple[Place, Place]:
    """The places of a node of each side, that of the left one first."""
    left, right = as_seen(node, other)
    return place(left), place(right)


def found(
    kind: Any,
    values: Contrast,
    node: Vertex,
    other: Vertex | None = None,
    *,
    phase: Phase | None = None,
    source: str = "",
    parts: Iterable[Vertex] = (),
    ends: tuple[Vertex, Vertex] | None = None,
    goes_on: Vertex | None = None,
    laid: Iterable[Vertex] = (),
    **facts: Any,
) -> FoundDivergence:
    """A divergence of a kind at a node, with the ``facts`` of its kind; ``values`` begin with that node's.

    ``other`` is the one of the other side, where there is one: both take part where no ``parts`` are named.
    ``source`` is used where the node has no line. What every record of the kind says of its nodes, as on
    which side they are, is filled in.
    """
    is_left = node.side.name == "left"
    known = {
        "side": node.side.name,
        "places": both(node, other) if other else None,
        "goes_on": place(goes_on) if goes_on else None,
    }
    own, there = values.values
    end = End(node=node.id, source=node.source or source, value=own)
    there_id, there_source = (other.id, other.source) if other else (None, "")
    other_end = End(node=there_id, source=there_source, value=there)
    divergence: Divergence = kind(
        phase=phase or node.phase,
        ends=(end, other_end) if is_left else (other_end, end),
        gap=values.gap if is_left else mirrored(values.gap),
        **{name: fact for name, fact in known.items() if name in kind.__struct_fields__},
        **facts,
    )
    taking_part = frozenset(parts) or frozenset(filter(None, (node, other)))
    return FoundDivergence(divergence, taking_part, ends, goes_on, frozenset(laid))


# Values


def reading(value: OutputValue) -> Reading:
    """A value as a reader knows it: its elements when they are few, else its shape and mean."""
    if value.summary is None:
        return Reading("unobserved")
    whole = value.summary.whole
    if whole is not None and whole.data and value.size <= FEW_ELEMENTS:
        parts = real_parts(unpack(whole)).astype(np.float64)
        shape = value.shape if parts.size == value.size else parts.shape
        return Reading("elements", shape, tuple(parts.ravel().tolist()))
    return Reading("mean", value.shape, (value.summary.mean,))


def alone(value: OutputValue) -> Contrast:
    """A value that the other side has no counterpart of."""
    return Contrast((reading(value), ABSENT))


def contrast(value: OutputValue, other: OutputValue) -> Contrast:
    """Reads two values at their greatest difference, or by shape where their sizes differ.

    Where some elements differ by more than their noise, it is the greatest difference of these.
    """
    if value.summary is None or other.summary is None:
        return Contrast((reading(value), reading(other)))
    if value.size != other.size:
        return Contrast((Reading("shape", value.shape), Reading("shape", other.shape)))
    own, others = value.numbers, other.numbers
    likeness = None
    is_least = own is None or others is None
    if own is None or others is None:
        # Of large values only order statistics are known: some elements differ by as much as these.
        own, others = np.array(value.summary.quantiles), np.array(other.summary.quantiles)
    else:
        # Of other shapes, the elements are in a row.
        likeness = _likeness(own, others, value.shape if value.shape == other.shape else own.shape)
    if not own.size or own.shape != others.shape:
        one, another = (Reading("finite" if it.size else "nothing_finite") for it in (own, others))
        return Contrast((one, another), Gap(likeness=likeness, is_least=is_least))
    differences = elementwise_difference(own, others)
    level, other_level = noise_at(value, own), noise_at(other, others)
    if level is None or other_level is None:
        index = int(differences.argmax())
        noise = ratio = None
    else:
        times = ratios(own, others, level, other_level)
        index = greatest(differences, times)
        noise = float(np.hypot(level[index], other_level[index]))
        ratio = _if_finite(times[index])
    gap = Gap(_if_finite(differences[index]), noise, ratio, likeness, is_least)
    one, another = (Reading("element", (), (float(it[index]),)) for it in (own, others))
    return Contrast((one, another), gap)


def _if_finite(figure: float) -> float | None:
    return float(figure) if np.isfinite(figure) else None


# What a difference looks like


def _likeness(value: Floats, other: Floats, shape: tuple[int, ...]) -> Likeness | None:
    """What two values have in common, if anything: a transpose, another order, a sign, a factor."""
    # A complex tensor has two numbers for each element, which a real one of its shape has not.
    if not value.size or value.shape != other.shape or not np.isfinite([value, other]).all():
        return None
    if within(value, other, ALIKE):
        return _factor(value, other)
    # Where they differ in order alone, they are far closer in ascending order than as they stand.
    ascending, others = np.sort(value), np.sort(other)
    left, whole = np.abs(ascending - others).max(), np.abs(value - other).max()
    if not (within(ascending, others, ALIKE) and left <= UNEXPLAINED * whole):
        return _factor(value, other)
    is_real_matrix = len(shape) == 2 and value.size == math.prod(shape)
    if is_real_matrix and within(value.reshape(shape).T.ravel(), other, ALIKE):
        return Likeness("transposed")
    return Likeness("reordered")


def _factor(value: Floats, other: Floats) -> Likeness | None:
    """The factor between two values, where there is one for all elements and it says something."""
    nonzero = other != 0
    if not nonzero.any() or value[~nonzero].any():
        return None
    ratios = value[nonzero] / other[nonzero]
    factor = float(np.median(ratios))
    is_common = factor != 0 and np.allclose(ratios, factor, rtol=1e-4, atol=0)
    if not is_common or abs(factor - 1) < 1e-3:
        return None
    if abs(factor + 1) < 1e-5:
        return Likeness("opposite")
    # Any two numbers have a quotient: of a single element, only a whole one is worth a word.
    times = max(abs(factor), 1 / abs(factor))
    if value.size == 1 and abs(times - round(times)) > 1e-4 * times:
        return None
    return Likeness("times", factor)


# Divergences at what has a name: inputs, parameters and results


def from_leaf(mismatch: Mismatch, phase: Phase = "forward") -> FoundDivergence:
    """A leaf from whose values the two nets start differently."""
    left, right = ends = as_seen(mismatch.first, mismatch.second)
    values = contrast(left.value, right.value)
    return found(OtherStart, values, left, right, phase=phase, ends=ends, name=left.name)


def from_lone_leaf(
    leaf: Vertex, user: Vertex | None, phase: Phase, *, is_unread: bool = False
) -> FoundDivergence:
    """A leaf that only one side has, or reads (``is_unread``); ``user`` is what reads it."""
    return found(
        LoneLeaf,
        alone(leaf.value),
        leaf,
        phase=phase,
        source=user.source if user else "",
        parts=(leaf, user) if user else (leaf,),
        leaf=leaf.kind,
        name=leaf.name or leaf.op,
        user=place(user) if user else None,
        is_unread=is_unread,
    )


def from_result(mismatch: Mismatch, phase: Phase) -> FoundDivergence:
    """A result whose maker has a partner on the other side that is not the result's maker there."""
    left, right = as_seen(mismatch.first, mismatch.second)
    values = contrast(left.result, right.result)
    return _elsewhere(phase, (left, right), values, left.name or left.id, are_whole=True)


def _elsewhere(
    phase: Phase, results: tuple[Vertex, Vertex], values: Contrast, name: str, *, are_whole: bool
) -> FoundDivergence:
    """Two results that differ, the left side's first, with what makes them."""
    maker, other_maker = (node.inputs[0].node if node.inputs else node for node in results)
    makers, is_one = both(maker, other_maker), are_whole and maker.partner is other_maker
    facts: dict[str, Any] = {"name": name, "makers": makers, "do_correspond": is_one}
    return found(ResultElsewhere, values, maker, other_maker, phase=phase, parts=results, **facts)


def from_missing(result: Vertex) -> FoundDivergence:
    """Everything that both sides name agrees, but one of them has a gradient more."""
    return found(ResultMissing, alone(result.result), result, phase="backward", name=result.name)


# Parameters that both graphs hold in other pieces, one after the other along the first axis


def differing_pieces(
    sides: Iterable[Side], repacked: Iterable[Repacked], alike: Collection[str]
) -> list[FoundDivergence]:
    """Mark what the sides hold in other pieces; the gradients of it that differ, each at its worst piece.

    A marked leaf is equal by construction, and a marked gradient is compared piece by piece: of one side a
    whole, of the other its parts. ``alike`` are the names, PyTorch's, of those that are known not to differ.
    """
    differing = []
    for piece in repacked:
        for side in sides:
            held, held_there = _named(side, piece.own), _named(side.other, piece.torch)
            if not (held and held_there):
                continue
            for node in (*held, *held_there):
                node.is_packed = True
            one, other = ([node for node in it if node.is_result] for it in (held, held_there))
            whole, parts = (one, other) if len(piece.own) == 1 else (other, one)
            is_known = len(whole) == 1 and len(parts) == len(piece.own) + len(piece.torch) - 1
            if is_known and not {f"d{name}" for name in piece.torch} <= set(alike):
                differing += _differing(whole[0], parts)
    return differing


def _named(side: Side, names: Iterable[str]) -> list[Vertex]:
    """The leaves and gradients of parameters, in the order of their names."""
    nodes = [node for node in side.nodes if node.is_leaf or node.is_result]
    wanted = [wanted for name in names for wanted in (name, f"d{name}")]
    return [node for name in wanted for node in nodes if node.name == name]


def _differing(whole: Vertex, parts: list[Vertex]) -> list[FoundDivergence]:
    """The part of a gradient that differs most from its rows of the whole, if one does beyond its noise.

    It is the first one where elements are not known.
    """
    pieces: list[tuple[float, FoundDivergence]] = []
    start = 0
    for part in parts:
        value = whole.result
        rows = part.result.shape[0] if part.result.shape else 0
        if value.whole is not None:
            array = unpack(value.whole)[start : start + rows]
            figures = summarise(array, value.whole.dtype)
            value = OutputValue(whole, 0, array.shape, figures, value.noise)
        start += rows
        values = {whole: value, part: part.result}
        left, right = as_seen(whole, part)
        compared = contrast(values[left], values[right])
        gap = compared.gap
        is_equal = gap.greatest == 0 if gap.ratio is None else gap.ratio <= CLEAR
        if not is_equal:
            piece = _elsewhere("backward", (left, right), compared, part.name, are_whole=False)
            pieces.append((gap.greatest or 0.0, piece))
    return [max(pieces, key=lambda it: it[0])[1]] if pieces else []
