"""What is read of two values that should have been equal, and of the nodes that hold them."""

import math
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from explorer.compare.align.fingerprints import elements, noise_at
from explorer.compare.align.vertices import OutputValue, Side, Vertex
from explorer.compare.graphs.sameness import greatest, ratios
from explorer.model.arrays import unpack
from explorer.model.divergence import (
    ABSENT,
    Divergence,
    End,
    Gap,
    Likeness,
    Place,
    Reading,
    Readings,
    Row,
    mirrored_gap,
)
from explorer.numeric.differences import Floats, elementwise_difference, real_parts

NO_GAP = Gap()
"""Where the difference of two values is not looked at."""

FEW_ELEMENTS = 6
"""A value of at most so many elements is read as a whole."""

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

    divergence: Divergence | None
    parts: frozenset[Vertex]
    ends: tuple[Vertex, Vertex] | None = None
    goes_on: Vertex | None = None
    laid: frozenset[Vertex] = frozenset()


NO_DIVERGENCE = FoundDivergence(None, frozenset())


@dataclass(frozen=True)
class Contrast:
    """Two values that should have been equal, one after the other, and by how much they differ."""

    values: Readings
    gap: Gap = NO_GAP

    def beginning_left(self, side: Side) -> "Contrast":
        """The same with the left graph's value first; the first one is that of ``side``."""
        if side.is_left:
            return self
        return Contrast(self.values[::-1], mirrored_gap(self.gap))


# Nodes


def place(node: Vertex) -> Place:
    """A node as a reader finds it.

    Where a net calls that line from several, the one that did so here is part of it.
    """
    label = node.name if node.is_leaf and node.name else node.op
    is_called = node.caller and node.side.is_called_from_several_lines(node)
    return Place(
        label=label,
        scope=node.scope,
        source=node.source,
        caller=node.caller if is_called else "",
    )


def row_of(nodes: list[Vertex]) -> Row:
    """Ops in a row."""
    return Row(first=place(nodes[0]), last=nodes[-1].op, count=len(nodes), end=nodes[-1].id)


def both(node: Vertex, other: Vertex) -> tuple[Place, Place]:
    """The places of a node of each side, that of the left one first."""
    here, there = place(node), place(other)
    return (here, there) if node.side.is_left else (there, here)


def ends_of(
    node: Vertex, contrast: Contrast, other: Vertex | None = None, source: str = ""
) -> tuple[End, End]:
    """Both ends of a divergence at a node; ``contrast`` begins with its value.

    ``other`` is the one of the other side, where there is one. ``source`` is used where the node
    has no line.
    """
    value, other_value = contrast.values
    here = End(node=node.id, source=node.source or source, value=value)
    there = End(node=None, source="", value=other_value)
    if other:
        there = End(node=other.id, source=other.source, value=other_value)
    return (here, there) if node.side.is_left else (there, here)


def gap_of(node: Vertex, contrast: Contrast) -> Gap:
    """By how much two values differ, seen from the left; ``contrast`` begins with that of ``node``."""
    return contrast.beginning_left(node.side).gap


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
    """Reads two values at their greatest difference, or by shape where their sizes differ."""
    if value.summary is None or other.summary is None:
        return Contrast((reading(value), reading(other)))
    if value.size != other.size:
        return Contrast((Reading("shape", value.shape), Reading("shape", other.shape)))
    if value.whole is None or other.whole is None:
        # Of large values only order statistics are known: some elements differ by as much as these.
        quantiles = np.array(value.summary.quantiles), np.array(other.summary.quantiles)
        found = _at_greatest(value, other, *quantiles, likeness=None)
        return replace(found, gap=msgspec.structs.replace(found.gap, is_least=True))
    own, others = elements(value.whole), elements(other.whole)
    likeness = _likeness(own, others, _common_shape(value, other))
    return _at_greatest(value, other, own, others, likeness)


def _common_shape(value: OutputValue, other: OutputValue) -> tuple[int, ...]:
    """The shape of two values; that of their elements in a row where they have two."""
    return value.shape if value.shape == other.shape else (value.size,)


def _at_greatest(
    value: OutputValue,
    other: OutputValue,
    own: Floats,
    others: Floats,
    likeness: Likeness | None,
) -> Contrast:
    """Two values at the greatest difference of these figures of theirs.

    Where some differ by more than their noise, it is the greatest of these.
    """
    if not own.size or own.shape != others.shape:
        return Contrast((_finiteness(own), _finiteness(others)), Gap(likeness=likeness))
    differences = elementwise_difference(own, others)
    level, other_level = noise_at(value, own), noise_at(other, others)
    if level is None or other_level is None:
        at = int(differences.argmax())
        noise = ratio = None
    else:
        times = ratios(own, others, level, other_level)
        at = greatest(differences, times)
        noise = float(np.hypot(level[at], other_level[at]))
        ratio = _if_finite(times[at])
    gap = Gap(
        greatest=_if_finite(differences[at]),
        noise=noise,
        ratio=ratio,
        likeness=likeness,
    )
    return Contrast((_element(own[at]), _element(others[at])), gap)


def _element(number: float) -> Reading:
    return Reading("element", (), (float(number),))


def _if_finite(figure: float) -> float | None:
    return float(figure) if np.isfinite(figure) else None


def _finiteness(value: Floats) -> Reading:
    return Reading("finite") if value.size else Reading("nothing_finite")


# What a difference looks like


def _likeness(value: Floats, other: Floats, shape: tuple[int, ...]) -> Likeness | None:
    """What two values have in common, if anything: a transpose, another order, a sign, a factor."""
    # A complex tensor has two numbers for each element, which a real one of its shape has not.
    if not value.size or value.shape != other.shape or not np.isfinite([value, other]).all():
        return None
    if _are_close(value, other) or not _is_explained_by_order(value, other):
        return _factor(value, other)
    is_real_matrix = len(shape) == 2 and value.size == math.prod(shape)
    if is_real_matrix and _are_close(value.reshape(shape).T.ravel(), other):
        return Likeness("transposed")
    return Likeness("reordered")


def _is_explained_by_order(value: Floats, other: Floats) -> bool:
    """Whether values are close in ascending order, and far closer than as they stand."""
    own, others = np.sort(value), np.sort(other)
    left, whole = np.abs(own - others).max(), np.abs(value - other).max()
    return _are_close(own, others) and bool(left <= UNEXPLAINED * whole)


def _are_close(one: Floats, other: Floats) -> bool:
    return bool(np.allclose(one, other, rtol=1e-4, atol=1e-7))


def _factor(value: Floats, other: Floats) -> Likeness | None:
    """The factor between two values, where there is one for all elements and it says something."""
    factor = _common_factor(value, other)
    if factor is None or abs(factor - 1) < 1e-3:
        return None
    if abs(factor + 1) < 1e-5:
        return Likeness("opposite")
    # Any two numbers have a quotient: of a single element, only a whole one is worth a word.
    times = max(abs(factor), 1 / abs(factor))
    if value.size == 1 and abs(times - round(times)) > 1e-4 * times:
        return None
    return Likeness("times", factor)


def _common_factor(value: Floats, other: Floats) -> float | None:
    """The factor from the other value to the first, where it is the same for all elements."""
    nonzero = other != 0
    if not nonzero.any() or value[~nonzero].any():
        return None
    ratios = value[nonzero] / other[nonzero]
    factor = float(np.median(ratios))
    is_common = factor != 0 and np.allclose(ratios, factor, rtol=1e-4, atol=0)
    return factor if is_common else None
