"""Fingerprints: observed values that are the same numbers, up to layout and rounding."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.compare.align.sameness import Tolerance, allowances, levels_of, unit_of
from explorer.compare.align.vertices import Bucket, OutputValue, Side
from explorer.compare.graphs.sameness import CLEAR, COARSE, within
from explorer.model.arrays import Summary
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import FAR_LESS, MASK, QUANTILES

Places = NDArray[np.intp]

REACH = 64
"""The number of neighbours in norm that a value is compared with.

More than these can only be the same value over and over.
"""

TURNED = 1e-3
"""A mask with more noise than this has elements that rounding turns over."""

_SIZE, _NONFINITE, _RMS, _MEAN, _FIRST_QUANTILE = range(5)
"""Columns of the table of figures.

They hold the number of elements, which are not finite, the root mean square, the mean, and from
_FIRST_QUANTILE on the quantiles.
"""


@dataclass
class _Content:
    """The numbers that the values of one bucket hold, while buckets are compared.

    ``figures`` are its row of the table, ``elements`` are sorted and None unless all are known,
    ``coarseness`` is the greatest of its values, and so is ``noise``, which is NaN where none was
    measured; ``noisiest`` is the value that it is of. ``unit`` is the relative error of rounding to
    the dtype of each of them.
    """

    figures: list[float]
    elements: Floats | None
    coarseness: float
    noise: float
    unit: float
    values: list[OutputValue]
    noisiest: OutputValue | None = None

    def is_confirmed(self, other: "_Content", pair: "_Neighbours") -> bool:
        """Whether the elements of two agree, where both are known."""
        one, another = self.elements, other.elements
        if one is None or another is None:
            return True
        if one.size <= QUANTILES and np.isfinite(one).all():
            return True  # the quantiles were all of the elements
        return within(one, another, (pair.rtol, pair.floor))


class _QuietExamples(NamedTuple):
    """The elements of the examples that hardly move, sorted, where they lie, and their noise."""

    elements: Floats
    places: NDArray[np.bool_]
    noise: float


class _Neighbours(NamedTuple):
    """Two rows of the sorted table whose figures agree.

    ``distance`` is how far they lie apart relative to their scale; their elements may lie apart by
    ``rtol`` of the element plus ``floor``.
    """

    first: int
    second: int
    distance: float
    rtol: float
    floor: float


def fingerprint(left: Side, right: Side, tolerance: Tolerance) -> None:
    """Puts every observed value into a bucket, and tells buckets which others agree with them.

    Exact order statistics make the buckets, moments find neighbours, whole values confirm them.
    """
    contents = _all_contents((left, right))
    table = np.array([content.figures for content in contents], np.float64)
    table = table.reshape(len(contents), _FIRST_QUANTILE + QUANTILES)
    quantiles = table[:, _FIRST_QUANTILE:]
    spreads = np.ptp(quantiles, axis=1).tolist()
    buckets = []
    noise = np.array([content.noise for content in contents], np.float64)
    magnitudes = scales(quantiles, noise).tolist()
    for content, scale, spread in zip(contents, magnitudes, spreads, strict=True):
        # Zeros and ones stand in every graph, as do tensors filled with any one number.
        least = content.figures[_FIRST_QUANTILE]
        is_common = content.values[0].size > 1 or least in {0.0, 1.0, -1.0}
        is_distinctive = spread != 0 or not is_common
        bucket = Bucket(is_plain=spread == 0, is_distinctive=is_distinctive, scale=scale)
        buckets.append(bucket)
        for value in content.values:
            value.bucket = bucket

    # Only what stands near one another in the sorted table is compared, for as long as the norms
    # agree: all pairs are too many.
    sweep = _Sweep(table, contents, tolerance)
    with np.errstate(invalid="ignore", over="ignore"):
        for step in range(1, min(REACH, len(table) - 1) + 1):
            rows = sweep.in_reach(step)
            if not rows.size:
                break
            for pair in sweep.neighbours(rows, step):
                first, second = sweep.order[pair.first], sweep.order[pair.second]
                one, other = contents[first], contents[second]
                if one.is_confirmed(other, pair) and sweep.have_like_examples(one, other, pair):
                    buckets[first].near[buckets[second]] = pair.distance
                    buckets[second].near[buckets[first]] = pair.distance


def _all_contents(sides: tuple[Side, Side]) -> list[_Content]:
    """The distinct contents of all values, in order of first appearance."""
    by_key: dict[tuple[Any, ...], _Content] = {}
    for node in (node for side in sides for node in side.nodes):
        # A float32 value that was computed from a float16 one keeps the error of float16.
        own = [COARSE.get(output.dtype, 0.0) for output in node.record.outputs]
        node.coarseness = max([0.0, *own, *(it.coarseness for it in node.feeders)])
        for value in node.values:
            summary = value.summary
            if summary is None or not value.size:
                continue
            whole = value.numbers
            if whole is not None:
                whole = np.sort(whole) + 0.0  # -0.0 and 0.0 are one number
            data = None if whole is None else whole.tobytes()
            unit = unit_of(value)
            # Order statistics are exact but few: where all elements are known, these must be equal too.
            # And a float64 tensor that holds the numbers of a float32 one is still compared as float64.
            key = value.size, summary.nonfinite, summary.infinities, summary.quantiles, data, unit
            if key not in by_key:
                by_key[key] = _Content(_figures(value.size, summary), whole, 0.0, nan, unit, [])
            content = by_key[key]
            content.values.append(value)
            content.coarseness = max(content.coarseness, node.coarseness)
            # No number is greater than a NaN.
            if value.noise is not None and not value.noise <= content.noise:
                content.noise, content.noisiest = value.noise, value
    return list(by_key.values())


def _figures(size: int, summary: Summary) -> list[float]:
    """A row of the table: figures that do not depend on layout."""
    count = max(size - summary.nonfinite, 1)
    root_mean_square = summary.norm / count**0.5
    quantiles = (summary.quantiles + (0.0,) * QUANTILES)[:QUANTILES]
    # One number for all three counts: NaN and the two infinities equal themselves alone.
    positive, negative = summary.infinities
    not_finite = (summary.nonfinite * (size + 1) + positive) * (size + 1) + negative
    return [size, not_finite, root_mean_square, summary.mean, *quantiles]


def scales(quantiles: Floats, noise: Floats) -> Floats:
    """The magnitude that rounding is relative to, one a row.

    It is the greatest element that is no mask and no outlier. ``quantiles`` has shape
    ``(rows, QUANTILES)``; ``noise`` and the scales have shape ``(rows,)``.
    """
    sizes = np.sort(np.abs(quantiles), axis=1)
    last = sizes.shape[1] - 1
    # What is noise tells no more of the typical element than a zero: a packed bias may be in part.
    within_noise = sizes / CLEAR <= np.nan_to_num(noise)[:, None]
    only_noise = within_noise.all(axis=1)[:, None]
    zeros = np.count_nonzero((sizes == 0) | (within_noise & ~only_noise), axis=1)
    first_quartile = zeros + (sizes.shape[1] - zeros) // 4
    typical = sizes[np.arange(len(sizes)), np.minimum(first_quartile, last)]
    limit: Floats = np.where(sizes <= MASK * typical[:, None], sizes, 0.0).max(axis=1, initial=0.0)
    return limit


class _Sweep:
    """The table sorted by size and norm, so that rows that agree stand near one another.

    ``order`` leads from a row of the sorted table to the number of its bucket.
    """

    def __init__(self, table: Floats, contents: list[_Content], tolerance: Tolerance) -> None:
        coarseness = np.array([content.coarseness for content in contents], np.float64)
        self.order = np.lexsort((table[:, _RMS], table[:, _NONFINITE], table[:, _SIZE])).tolist()
        self._table = table[self.order]
        noise = np.array([content.noise for content in contents], np.float64)
        unit = np.array([content.unit for content in contents], np.float64)
        self._noise = noise[self.order]
        self._unit = unit[self.order]
        self._scale = scales(self._table[:, _FIRST_QUANTILE:], self._noise)
        with np.errstate(invalid="ignore"):
            twice = 2 * self._table[:, _FIRST_QUANTILE:]
            # Masks and counts of what is equal hold whole numbers and halves alone.
            are_whole = (twice == np.round(twice)).all(axis=1)
        self._is_turned = are_whole & (np.nan_to_num(self._noise) > TURNED)
        self._coarseness = coarseness[self.order]
        self._tolerance = tolerance

    def in_reach(self, step: int) -> Places:
        """The rows that agree in size and norm with the row ``step`` places behind them."""
        first = np.arange(len(self._table) - step)
        second = first + step
        alike = (self._table[first, :_RMS] == self._table[second, :_RMS]).all(axis=1)
        norms = self._table[:, _RMS]
        rtol, floor = self._allowed(first, second)
        alike &= norms[second] - norms[first] <= rtol * norms[second] + floor
        return np.flatnonzero(alike)

    def neighbours(self, first: Places, step: int) -> Iterator[_Neighbours]:
        """The rows of ``first`` that agree in all figures with the row ``step`` places behind."""
        second = first + step
        rtol, floor = self._allowed(first, second)
        mean_and_quantiles = self._table[:, _MEAN:]
        figures, others = mean_and_quantiles[first], mean_and_quantiles[second]
        apart = np.abs(figures - others)
        size = np.maximum(np.abs(figures), np.abs(others))
        allowed = rtol[:, None] * size + floor[:, None]
        # A mean may cancel to next to nothing: it is allowed as much as the norm is.
        allowed[:, 0] = rtol * self._table[second, _RMS] + floor

        scale = np.maximum(self._scale[first], self._scale[second])
        for place in np.flatnonzero((apart <= allowed).all(axis=1)).tolist():
            distance = apart[place].max() / (scale[place] or 1.0)
            yield _Neighbours(
                int(first[place]),
                int(second[place]),
                float(distance),
                float(rtol[place]),
                float(floor[place]),
            )

    def have_like_examples(self, one: _Content, other: _Content, pair: _Neighbours) -> bool:
        """Whether the examples that hardly move are the same, whatever rounding does to the rest.

        Where each value has such examples as the other has not, nothing is known.
        """
        quiet, other_quiet = _quiet_examples(one), _quiet_examples(other)
        if quiet is None or other_quiet is None or quiet.places.size != other_quiet.places.size:
            return True
        few, many = sorted((quiet, other_quiet), key=lambda it: it.elements.size)
        if (few.places & ~many.places).any() or few.places.all():
            return True
        rows = np.array([pair.first]), np.array([pair.second])
        noise = np.array([few.noise]), np.array([many.noise])
        (rtol,), (floor,) = self._allowed(*rows, noise)
        # Each finite one of the few is one of the many, which are sorted, within tolerance.
        own, held = (it.elements[np.isfinite(it.elements)] for it in (few, many))
        if not own.size or not held.size:
            return True
        place = np.searchsorted(held, own)
        below, above = held[np.maximum(place - 1, 0)], held[np.minimum(place, held.size - 1)]
        apart = np.minimum(np.abs(own - below), np.abs(own - above))
        return bool((apart <= floor + rtol * np.abs(own)).all())

    def _allowed(
        self, first: Places, second: Places, noise: tuple[Floats, Floats] | None = None
    ) -> tuple[Floats, Floats]:
        """The (rtol, floor) within which elements of two rows agree, each of shape ``(rows,)``.

        ``noise`` is that of the rows, where it is not given.
        """
        if noise is None:
            # The noise of a mask which rounding turns says nothing of other values.
            turned, other_turned = self._is_turned[first], self._is_turned[second]
            noise = (
                np.where(turned & ~other_turned, 0.0, self._noise[first]),
                np.where(other_turned & ~turned, 0.0, self._noise[second]),
            )
        return allowances(
            self._tolerance,
            noise,
            np.maximum(self._unit[first], self._unit[second]),
            np.maximum(self._coarseness[first], self._coarseness[second]),
            np.maximum(self._scale[first], self._scale[second]),
        )


def _quiet_examples(content: _Content) -> _QuietExamples | None:
    """The examples that move far less than all do; all of them where none does."""
    value, known = content.noisiest, content.elements
    numbers = value.numbers if value else None
    if value is None or numbers is None or known is None:
        return None
    if not value.levels:
        return _QuietExamples(known, np.ones(known.size, np.bool_), content.noise)
    levels = levels_of(value, known.size)
    places = levels * FAR_LESS < content.noise
    return _QuietExamples(np.sort(numbers[places]), places, float(levels[places].max()))
