"""When values are the same numbers: up to rounding, element by element, and in which layout.

Values whose numbers are the same whatever their layout share a bucket, and buckets know which others agree
with them: exact order statistics make buckets, moments find neighbours, whole values confirm them.
"""

from math import hypot, nan
from typing import Any

import numpy as np

from explorer.compare.align.vertices import Bucket, OutputValue, Side
from explorer.compare.graphs.sameness import CLEAR, COARSE, within
from explorer.model.divergence import Layout
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import FAR_LESS, MASK, QUANTILES, UNIT

TIGHT = 3e-6
"""Differences below this, relative to a value's scale, are the rounding of float32 sums.

Candidates that lie so close go first.
"""

NOISE = 10.0
"""Results are noise about zero up to this many times ATOL.

A gradient that cancels is a sum of larger terms, and has the rounding of these.
"""

LAYOUT_SLACK = 10.0
"""The multiple of the tolerance beyond which an element counts as being in another place."""

MOST_ROWS = 512
"""Of values with more rows it is not looked whether they have the same ones."""


RTOL, ATOL = 1e-4, 1e-6
"""The tolerance within which two elements agree whose noise was not measured.

RTOL is relative to the element, ATOL to the tensor's typical greatest element.
"""


def layout_of(first: OutputValue, second: OutputValue) -> Layout | None:
    """How the equal numbers of two values lie differently, whose shapes are one but for ones.

    "transposed", "reordered", or None where they do not or not every element is known.
    """
    one, other = first.whole, second.whole
    if one is None or other is None or one.data == other.data:
        return None
    # Dimensions of length 1 say nothing of where numbers lie.
    if [it for it in one.shape if it != 1] != [it for it in other.shape if it != 1]:
        return None
    beside = elements_beside(first, second)
    if beside is None:
        return None
    left, right = beside
    rtol, floor = _room(first, second, left.size)
    if within(left, right, (rtol, floor)):
        return None
    if len(one.shape) == 2:
        transposed = left.reshape(one.shape).T.ravel()
        if within(transposed, right, (rtol, floor.max())):
            return "transposed"
    return "reordered"


def have_other_rows(first: OutputValue, second: OutputValue) -> bool:
    """Whether equal numbers of two values make up other rows along the last axis.

    The rows may be in any order, and in any shape. False where that is not known.
    """
    one, other = first.whole, second.whole
    beside = elements_beside(first, second)
    if one is None or other is None or beside is None or not (one.shape and other.shape):
        return False
    if one.shape[-1] != other.shape[-1] or first.size != second.size:
        return False
    rows, others = (side.reshape(-1, one.shape[-1]) for side in beside)
    if len(rows) > MOST_ROWS:
        return False
    rtol, floor = _room(first, second, rows.size)
    room = rtol.max(), floor.max()
    return any(not any(within(row, it, room) for it in others) for row in rows)


def _room(first: OutputValue, second: OutputValue, count: int) -> tuple[Floats, Floats]:
    """The (rtol, floor) beyond which each of ``count`` elements counts as being in another place."""
    rtol, floor = allowances(
        (levels_of(first, count), levels_of(second, count)),
        max(unit_of(first), unit_of(second)),
        max(first.node.coarseness, second.node.coarseness),
        max(value.bucket.scale if value.bucket else 0.0 for value in (first, second)),
    )
    return LAYOUT_SLACK * rtol, LAYOUT_SLACK * floor


def are_one(first: OutputValue, second: OutputValue) -> bool:
    """Whether two values are the same numbers up to layout, or both rounding noise about zero."""
    return bool(first.agrees(second)) or are_noise(first, second, NOISE)


def are_noise(first: OutputValue, second: OutputValue, room: float = 1.0) -> bool:
    """Whether two values of one size are rounding noise about zero.

    All their elements lie within CLEAR times their noise of zero; where the noise of one was
    not measured, within ``room`` times ATOL.
    """
    if first.size != second.size:
        return False
    if first.noise is None or second.noise is None:
        limit = room * ATOL
    else:
        limit = CLEAR * hypot(first.noise, second.noise)
    if not (first.is_within(limit) and second.is_within(limit)):
        return False
    # Examples may have a noise of their own.
    has_levels = (first.levels or second.levels) and first.shape == second.shape
    beside = elements_beside(first, second) if has_levels else None
    if beside is None:
        return True
    left, right = beside
    limits = CLEAR * np.hypot(levels_of(first, left.size), levels_of(second, right.size))
    return bool((np.maximum(np.abs(left), np.abs(right)) <= limits).all())


def elements_beside(first: OutputValue, second: OutputValue) -> tuple[Floats, Floats] | None:
    """All elements of two values; None where not all are known, and of a complex tensor and a real one."""
    one, other = first.numbers, second.numbers
    if one is None or other is None or one.shape != other.shape:
        return None
    return one, other


def allowances(
    noise: tuple[Any, Any], unit: Any, coarseness: Any, scale: Any
) -> tuple[Floats, Floats]:
    """The (rtol, floor) within which elements of two values agree, each a number or an array of them.

    That is CLEAR times the noise of both sides, each at least a rounding of its elements. Where
    the noise of a side (NaN) was not measured, it is the tolerance instead.
    """
    measured = CLEAR * np.hypot(*noise)
    rounding = CLEAR * 2**0.5 * unit
    rtol = np.maximum(RTOL, coarseness)
    known = CLEAR * np.fmax(np.fmax(*noise), 0.0)
    floor = np.maximum(ATOL, coarseness) * scale + np.nan_to_num(known)
    is_measured = ~np.isnan(measured)
    return (
        np.where(is_measured, rounding, rtol),
        np.where(is_measured, measured + rounding * scale, floor),
    )


def unit_of(value: OutputValue) -> float:
    """The relative error of rounding to a value's dtype; 0 for integers."""
    return UNIT.get(value.dtype, 0.0)


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


# Fingerprints: which values share a bucket, and which buckets agree


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


def fingerprint(left: Side, right: Side) -> None:
    """Puts every observed value into a bucket, and tells buckets which others agree with them."""
    found = _buckets((left, right))
    table = np.array([bucket.figures for bucket in found], np.float64)
    table = table.reshape(len(found), _FIRST_QUANTILE + QUANTILES)
    # By size and norm, so that what agrees stands near one another.
    order = np.lexsort((table[:, _RMS], table[:, _NONFINITE], table[:, _SIZE]))
    buckets, table = [found[row] for row in order.tolist()], table[order]
    noise, unit, coarseness = (
        np.array([getattr(bucket, name) for bucket in buckets], np.float64)
        for name in ("noise", "unit", "coarseness")
    )
    quantiles = table[:, _FIRST_QUANTILE:]
    scale, spread = scales(quantiles, noise), np.ptp(quantiles, axis=1)
    for row, bucket in enumerate(buckets):
        bucket.scale = float(scale[row])
        bucket.is_plain = bool(spread[row] == 0)
        # Zeros and ones stand in every graph, as do tensors filled with any one number.
        is_common = table[row, _SIZE] > 1 or table[row, _FIRST_QUANTILE] in {0.0, 1.0, -1.0}
        bucket.is_distinctive = not (bucket.is_plain and is_common)
    with np.errstate(invalid="ignore"):
        # Masks and counts of what is equal hold whole numbers and halves alone.
        are_whole = (2 * quantiles == np.round(2 * quantiles)).all(axis=1)
    is_turned = are_whole & (np.nan_to_num(noise) > TURNED)

    # Only what stands near one another is compared, for as long as the norms agree: all pairs are too many.
    with np.errstate(invalid="ignore", over="ignore"):
        for step in range(1, min(REACH, len(table) - 1) + 1):
            # Each row and the one ``step`` places behind it.
            one, other = table[:-step], table[step:]
            turned, other_turned = is_turned[:-step], is_turned[step:]
            # The noise of a mask which rounding turns says nothing of other values.
            noise_of_one = np.where(turned & ~other_turned, 0.0, noise[:-step])
            noise_of_other = np.where(other_turned & ~turned, 0.0, noise[step:])
            sizes = np.maximum(scale[:-step], scale[step:])
            rtol, floor = allowances(
                (noise_of_one, noise_of_other),
                np.maximum(unit[:-step], unit[step:]),
                np.maximum(coarseness[:-step], coarseness[step:]),
                sizes,
            )
            are_alike = (one[:, :_RMS] == other[:, :_RMS]).all(axis=1)
            are_alike &= other[:, _RMS] - one[:, _RMS] <= rtol * other[:, _RMS] + floor
            rows = np.flatnonzero(are_alike)
            if not rows.size:
                break
            figures, others = one[rows, _MEAN:], other[rows, _MEAN:]
            apart = np.abs(figures - others)
            magnitudes = np.maximum(np.abs(figures), np.abs(others))
            # A mean may cancel to next to nothing: it is allowed as much as the norm is.
            magnitudes[:, 0] = other[rows, _RMS]
            agree = (apart <= rtol[rows, None] * magnitudes + floor[rows, None]).all(axis=1)
            for row, greatest in zip(rows[agree].tolist(), apart[agree].max(axis=1), strict=True):
                first, second = buckets[row], buckets[row + step]
                room = float(rtol[row]), float(floor[row])
                if _agree(first, second, room):
                    distance = float(greatest / (sizes[row] or 1.0))
                    first.near[second] = second.near[first] = distance


def _buckets(sides: tuple[Side, Side]) -> list[Bucket]:
    """The buckets of all values, in order of first appearance."""
    by_key: dict[tuple[Any, ...], Bucket] = {}
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
                root_mean_square = summary.norm / max(value.size - summary.nonfinite, 1) ** 0.5
                # One number for all three counts: NaN and the two infinities equal themselves alone.
                positive, negative = summary.infinities
                base = value.size + 1
                not_finite = (summary.nonfinite * base + positive) * base + negative
                quantiles = (summary.quantiles + (0.0,) * QUANTILES)[:QUANTILES]
                figures = [value.size, not_finite, root_mean_square, summary.mean, *quantiles]
                by_key[key] = Bucket(figures, whole, unit)
            bucket = value.bucket = by_key[key]
            bucket.coarseness = max(bucket.coarseness, node.coarseness)
            # No number is greater than a NaN.
            if value.noise is not None and not value.noise <= bucket.noise:
                bucket.noise, bucket.noisiest = value.noise, value
    return list(by_key.values())


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


def _agree(one: Bucket, other: Bucket, room: tuple[float, float]) -> bool:
    """Whether the elements of two agree, where both are known, and in the examples that hardly move too.

    These must be the same whatever rounding does to the rest. Where each value has such examples as the
    other has not, nothing is known.
    """
    if one.elements is None or other.elements is None:
        return True
    # Of few elements the quantiles were all.
    are_all = one.elements.size <= QUANTILES and np.isfinite(one.elements).all()
    if not (are_all or within(one.elements, other.elements, room)):
        return False
    if not any(bucket.noisiest and bucket.noisiest.levels for bucket in (one, other)):
        return True
    quiet = []
    for bucket in (one, other):
        value, known = bucket.noisiest, bucket.elements
        numbers = value.numbers if value else None
        if value is None or numbers is None or known is None:
            return True
        # Those that move far less than all do; all of them where none does.
        levels = levels_of(value, known.size)
        places = levels * FAR_LESS < bucket.noise if value.levels else np.ones(known.size, np.bool_)
        quiet.append((np.sort(numbers[places]), places, float(levels[places].max())))
    (few, places, noise), (many, other_places, other_noise) = sorted(
        quiet, key=lambda it: it[0].size
    )
    if places.size != other_places.size or (places & ~other_places).any() or places.all():
        return True
    rtol, floor = allowances(
        (noise, other_noise),
        max(one.unit, other.unit),
        max(one.coarseness, other.coarseness),
        max(one.scale, other.scale),
    )
    # Each finite one of the few is one of the many, which are sorted, within tolerance.
    own, held = (elements[np.isfinite(elements)] for elements in (few, many))
    if not own.size or not held.size:
        return True
    place = np.searchsorted(held, own)
    below, above = held[np.maximum(place - 1, 0)], held[np.minimum(place, held.size - 1)]
    apart = np.minimum(np.abs(own - below), np.abs(own - above))
    return bool((apart <= floor + rtol * np.abs(own)).all())
