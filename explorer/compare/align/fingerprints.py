"""Fingerprints: observed values that are the same numbers, up to layout and rounding."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.compare.align.vertices import Bucket, OutputValue, Side
from explorer.compare.graphs.sameness import CLEAR, COARSE
from explorer.model.arrays import Array, Summary, unpack
from explorer.numeric.differences import Floats, are_equal, real_parts
from explorer.numeric.summaries import FAR_LESS, MASK, QUANTILES, UNIT

Places = NDArray[np.intp]

REACH = 64
"""The number of neighbours in norm that a value is compared with.

More than these can only be the same value over and over.
"""

TIGHT = 3e-6
"""Differences below this, relative to a value's scale, are the rounding of float32 sums.

Candidates that lie so close go first.
"""

TURNED = 1e-3
"""A mask with more noise than this has elements that rounding turns over."""

_SIZE, _NONFINITE, _RMS, _MEAN, _FIRST_QUANTILE = range(5)
"""Columns of the table of figures.

They hold the number of elements, which are not finite, the root mean square, the mean, and from
_FIRST_QUANTILE on the quantiles.
"""


@dataclass(frozen=True)
class Tolerance:
    """The tolerance within which two elements agree whose noise was not measured.

    ``rtol`` is relative to the element, ``atol`` to the tensor's typical greatest element. ``alike``
    are the names of results that agree whatever the levels of the graphs say.
    """

    rtol: float
    atol: float
    alike: frozenset[str] = frozenset()


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


def elements(array: Array) -> Floats:
    """All elements of a record, as float64 in C order."""
    return real_parts(unpack(array)).astype(np.float64).ravel()


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
        bucket = _bucket(content, scale, is_plain=spread == 0)
        buckets.append(bucket)
        for value in content.values:
            value.bucket = bucket
    _introduce(buckets, contents, table, tolerance)


def _all_contents(sides: tuple[Side, Side]) -> list[_Content]:
    """The distinct contents of all values, in order of first appearance."""
    by_key: dict[tuple[Any, ...], _Content] = {}
    for side in sides:
        _note_coarseness(side)
        for node in side.nodes:
            for value in node.values:
                if value.summary is not None and value.size:
                    _collect(by_key, value, value.summary)
    return list(by_key.values())


def _note_coarseness(side: Side) -> None:
    """Notes the coarsest rounding on the way to each node.

    A float32 value that was computed from a float16 one keeps the error of float16.
    """
    for node in side.nodes:
        coarseness = 0.0
        for output in node.record.outputs:
            coarseness = max(coarseness, COARSE.get(output.dtype, 0.0))
        for value in node.inputs:
            coarseness = max(coarseness, value.node.coarseness)
        node.coarseness = coarseness


def _collect(by_key: dict[tuple[Any, ...], _Content], value: OutputValue, summary: Summary) -> None:
    """Adds a value to those that hold the same numbers."""
    whole = None
    if summary.whole is not None:
        whole = np.sort(elements(summary.whole)) + 0.0  # -0.0 and 0.0 are one number
    data = None if whole is None else whole.tobytes()
    unit = unit_of(value)
    # Order statistics are exact but few: where all elements are known, these must be equal too. And
    # a float64 tensor that holds the numbers of a float32 one is still compared as float64.
    key = (value.size, summary.nonfinite, summary.infinities, summary.quantiles, data, unit)
    if key not in by_key:
        by_key[key] = _Content(_figures(value.size, summary), whole, 0.0, nan, unit, [])
    content = by_key[key]
    content.values.append(value)
    content.coarseness = max(content.coarseness, value.node.coarseness)
    # No number is greater than a NaN.
    if value.noise is not None and not value.noise <= content.noise:
        content.noise, content.noisiest = value.noise, value


def unit_of(value: OutputValue) -> float:
    """The relative error of rounding to a value's dtype; 0 for integers."""
    outputs = value.node.record.outputs
    return UNIT.get(outputs[value.output].dtype, 0.0) if value.output < len(outputs) else 0.0


def _figures(size: int, summary: Summary) -> list[float]:
    """A row of the table: figures that do not depend on layout."""
    count = max(size - summary.nonfinite, 1)
    root_mean_square = summary.norm / count**0.5
    quantiles = (summary.quantiles + (0.0,) * QUANTILES)[:QUANTILES]
    # One number for all three counts: NaN and the two infinities equal themselves alone.
    positive, negative = summary.infinities
    not_finite = (summary.nonfinite * (size + 1) + positive) * (size + 1) + negative
    return [size, not_finite, root_mean_square, summary.mean, *quantiles]


def _bucket(content: _Content, scale: float, is_plain: bool) -> Bucket:
    # Zeros and ones stand in every graph, as do tensors filled with any one number.
    least = content.figures[_FIRST_QUANTILE]
    is_common = content.values[0].size > 1 or least in {0.0, 1.0, -1.0}
    return Bucket(is_plain=is_plain, is_distinctive=not (is_plain and is_common), scale=scale)


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
        whole = _are_whole(self._table[:, _FIRST_QUANTILE:])
        self._is_turned = whole & (np.nan_to_num(self._noise) > TURNED)
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
        rtol, floor = allowances(
            self._tolerance,
            (np.array(few.noise), np.array(many.noise)),
            np.maximum(self._unit[pair.first], self._unit[pair.second]),
            np.maximum(self._coarseness[pair.first], self._coarseness[pair.second]),
            np.maximum(self._scale[pair.first], self._scale[pair.second]),
        )
        return _are_among(few.elements, many.elements, float(rtol), float(floor))

    def _allowed(self, first: Places, second: Places) -> tuple[Floats, Floats]:
        """The (rtol, floor) within which elements of two rows agree, each of shape ``(rows,)``."""
        return allowances(
            self._tolerance,
            self._noise_of(first, second),
            np.maximum(self._unit[first], self._unit[second]),
            np.maximum(self._coarseness[first], self._coarseness[second]),
            np.maximum(self._scale[first], self._scale[second]),
        )

    def _noise_of(self, first: Places, second: Places) -> tuple[Floats, Floats]:
        """The noise of two rows; that of a mask which rounding turns says nothing of other values."""
        noise, other = self._noise[first], self._noise[second]
        turned, other_turned = self._is_turned[first], self._is_turned[second]
        return (
            np.where(turned & ~other_turned, 0.0, noise),
            np.where(other_turned & ~turned, 0.0, other),
        )


def _are_whole(quantiles: Floats) -> NDArray[np.bool_]:
    """Which rows hold whole numbers and halves alone, as masks and counts of what is equal do."""
    with np.errstate(invalid="ignore"):
        found: NDArray[np.bool_] = (quantiles * 2 == np.round(quantiles * 2)).all(axis=1)
    return found


def allowances(
    tolerance: Tolerance,
    noise: tuple[Floats, Floats],
    unit: Floats,
    coarseness: Floats,
    scale: Floats,
) -> tuple[Floats, Floats]:
    """The (rtol, floor) within which elements of two values agree.

    That is CLEAR times the noise of both sides, each at least a rounding of its elements. Where
    the noise of a side (NaN) was not measured, it is the tolerance instead.
    """
    measured = CLEAR * np.hypot(*noise)
    rounding = CLEAR * 2**0.5 * unit
    rtol = np.maximum(tolerance.rtol, coarseness)
    known = CLEAR * np.fmax(np.fmax(*noise), 0.0)
    floor = np.maximum(tolerance.atol, coarseness) * scale + np.nan_to_num(known)
    is_measured = ~np.isnan(measured)
    return (
        np.where(is_measured, rounding, rtol),
        np.where(is_measured, measured + rounding * scale, floor),
    )


def levels_of(value: OutputValue, count: int) -> Floats:
    """The noise of each of ``count`` elements of a value, in C order; NaN where it was not measured."""
    if value.levels and count >= value.size:
        return np.repeat(value.levels, count // len(value.levels))
    return np.full(count, nan if value.noise is None else value.noise)


def noise_at(value: OutputValue, numbers: Floats) -> Floats | None:
    """The noise of numbers of a value; None where that was not measured.

    It is at least a rounding of each number, as it is where results are compared.
    """
    if value.noise is None:
        return None
    scale = value.bucket.scale if value.bucket else 0.0
    sizes = np.where(np.isfinite(numbers), np.abs(numbers), 0.0)
    rounding = unit_of(value) * np.maximum(sizes, scale)
    level: Floats = np.maximum(levels_of(value, numbers.size), rounding)
    return level


def _introduce(
    buckets: list[Bucket], contents: list[_Content], table: Floats, tolerance: Tolerance
) -> None:
    """Tells each bucket which others agree with it.

    A bucket is compared with those that stand behind it in the sorted table, for as long as the
    norms agree.
    """
    # Only what stands near one another in the sorted table is compared: all pairs are too many.
    sweep = _Sweep(table, contents, tolerance)
    with np.errstate(invalid="ignore", over="ignore"):
        for step in range(1, min(REACH, len(table) - 1) + 1):
            rows = sweep.in_reach(step)
            if not rows.size:
                break
            for pair in sweep.neighbours(rows, step):
                first, second = sweep.order[pair.first], sweep.order[pair.second]
                one, other = contents[first], contents[second]
                if _is_confirmed(one.elements, other.elements, pair) and sweep.have_like_examples(
                    one, other, pair
                ):
                    buckets[first].near[buckets[second]] = pair.distance
                    buckets[second].near[buckets[first]] = pair.distance


def _is_confirmed(one: Floats | None, other: Floats | None, pair: _Neighbours) -> bool:
    """Whether sorted elements agree, where both are known."""
    if one is None or other is None:
        return True
    if one.size <= QUANTILES and np.isfinite(one).all():
        return True  # the quantiles were all of the elements
    return agree(one, other, pair.rtol, pair.floor)


def _quiet_examples(content: _Content) -> _QuietExamples | None:
    """The examples that move far less than all do; all of them where none does."""
    value, known = content.noisiest, content.elements
    if value is None or value.whole is None or known is None:
        return None
    if not value.levels:
        return _QuietExamples(known, np.ones(known.size, np.bool_), content.noise)
    levels = levels_of(value, known.size)
    places = levels * FAR_LESS < content.noise
    quiet = np.sort(elements(value.whole)[places])
    return _QuietExamples(quiet, places, float(levels[places].max()))


def _are_among(few: Floats, many: Floats, rtol: float, floor: float) -> bool:
    """Whether each finite number is one of others, which are sorted, within tolerance."""
    few, many = few[np.isfinite(few)], many[np.isfinite(many)]
    if not few.size or not many.size:
        return True
    place = np.searchsorted(many, few)
    below, above = many[np.maximum(place - 1, 0)], many[np.minimum(place, many.size - 1)]
    apart = np.minimum(np.abs(few - below), np.abs(few - above))
    return bool((apart <= floor + rtol * np.abs(few)).all())


def agree(one: Floats, other: Floats, rtol: float | Floats, floor: float | Floats) -> bool:
    """Whether elements are equal, both NaN, or within ``floor`` plus ``rtol`` of the greater."""
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(one), np.abs(other))
        # Everything is within a part of infinity: only what is finite can be near.
        near = (np.abs(one - other) <= floor + rtol * size) & np.isfinite(size)
    # Most arrays are finite and near: whether NaNs meet NaNs is looked at only where they are not.
    return bool(near.all() or (near | are_equal(one, other)).all())
