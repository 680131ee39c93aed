"""Summaries of tensors, the order statistics in them, and the scale that rounding is relative to.

numpy sorts 16-bit integers digit by digit, several times as fast as it sorts floats by comparison.
The upper 16 bits of a float order it among all others but those that share them; of these, only the
few at the wanted ranks are sorted as floats.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.model.arrays import (
    LARGE,
    SMALL,
    AnyArray,
    Array,
    Excerpt,
    Summary,
    carrier,
    pack,
    unpack,
)
from explorer.numeric.differences import Floats, real_parts

Matrix = NDArray[Any]

MOST = 1 << 24
"""So many elements are kept of a value at most, 64 megabytes in float32."""

MOST_IN_GRAPH = 1 << 20
"""So many are kept at once of all large values of a graph."""

MOST_TRIED = 1 << 26
"""So many are kept of all that is tried on a graph."""


class _Room:
    """How many elements a summary may keep: so many ``of_one`` array, and ``left`` of all large ones."""

    def __init__(self, of_one: int, left: float) -> None:
        self.of_one = of_one
        self.left = left

    def takes(self, arrays: int, size: int) -> bool:
        """Whether some arrays of one size are kept; what is kept takes its room."""
        if size > self.of_one or (size > SMALL and arrays * size > self.left):
            return False
        self.left -= arrays * size if size > SMALL else 0
        return True


_room: ContextVar[_Room] = ContextVar("room")

NO_ROOM = _Room(SMALL, 0)
"""Small arrays alone are kept."""


@contextmanager
def keeping(of_one: int, of_all: float = math.inf) -> Iterator[None]:
    """Summaries that are made meanwhile keep the elements of arrays of up to ``of_one``.

    Of those with more than SMALL they keep ``of_all`` at most, the first ones.
    """
    token = _room.set(_Room(of_one, of_all))
    try:
        yield
    finally:
        _room.reset(token)


WORTH_IT = 200
"""From about this many elements a row on, this is faster than a plain sort (numpy 1.26)."""

UPPER = {np.dtype(np.float32): (np.int32, 16), np.dtype(np.float64): (np.int64, 48)}
"""The dtypes that are ordered by their upper 16 bits.

Each has the integer of its width, and how far to shift it.
"""


def order_statistics(matrix: Matrix, ranks: NDArray[np.intp]) -> Matrix:
    """The elements at ``ranks`` (ascending) of each row once the row is sorted.

    Zeros come without a sign. ``matrix`` has shape ``(rows, elements)`` and is C-contiguous,
    finite, and in the machine's byte order; the result has shape ``(rows, len(ranks))``.
    """
    if matrix.dtype in UPPER and matrix.shape[1] >= WORTH_IT:
        return _by_upper_bits(matrix, ranks)
    picked: Matrix = np.sort(matrix, axis=1)[:, ranks]
    if picked.dtype.kind == "f":
        picked += 0.0  # -0.0 becomes 0.0
    return picked


def quantile(values: Matrix, share: float) -> float:
    """The element of finite ``values`` below which a ``share`` of them lies, as numpy.quantile has it.

    Between two elements it is interpolated. numpy's own takes a tenth of a millisecond however few
    the values are (1.26), and verdicts ask for thousands.
    """
    place = (values.size - 1) * share
    below = int(place)
    above = min(below + 1, values.size - 1)
    sorted_there = np.partition(values, (below, above), axis=None)
    low, high = float(sorted_there[below]), float(sorted_there[above])
    part = place - below
    # Two formulas, as numpy has them: each end is met exactly.
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


def _by_upper_bits(matrix: Matrix, ranks: NDArray[np.intp]) -> Matrix:
    nonzero = matrix != 0
    # A zero of either sign gets the least of the integers that share the upper bits of 0.0.
    upper = _upper_bits(matrix) * nonzero
    digits = np.sort(upper, axis=1, kind="stable")
    wanted = digits[:, ranks]

    # The place of each wanted element among those that share its upper bits; zeros stand before all
    # others of theirs.
    first = np.array([row.searchsorted(values) for row, values in zip(digits, wanted, strict=True)])
    zeros = matrix.shape[1] - count_true(nonzero)[:, None]
    inside = ranks - first - zeros * (wanted == 0)

    # Only elements that share their upper bits with a wanted one are sorted as floats, row by row.
    sharing = _sharing(upper, wanted) & nonzero
    counts = count_true(sharing)
    candidates = matrix[sharing]
    start = 0
    for end in np.cumsum(counts).tolist():
        candidates[start:end].sort()
        start = end

    # All rows are searched at once: the row's number is above the 16 bits.
    lane = np.arange(len(matrix)) << 16
    keys = _upper_bits(candidates) + np.repeat(lane, counts)
    places = keys.searchsorted((wanted + lane[:, None]).ravel()).reshape(wanted.shape) + inside
    statistics = np.zeros(wanted.shape, matrix.dtype)
    statistics[inside >= 0] = candidates[places[inside >= 0]]
    return statistics


def _sharing(upper: NDArray[np.int16], wanted: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Whether each integer of a row is among the wanted ones of that row."""
    among = np.zeros(1 << 16, np.bool_)
    sharing = np.empty(upper.shape, np.bool_)
    places = upper.view(np.uint16).astype(np.intp)
    for row, (place, marked) in enumerate(zip(places, wanted.view(np.uint16), strict=True)):
        among[marked] = True
        sharing[row] = among[place]
        among[marked] = False
    return sharing


def count_true(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The number of true elements of each row of ``mask``, shape ``(rows, elements)``."""
    if mask.shape[1] < WORTH_IT:
        return np.asarray(np.count_nonzero(mask, axis=1))
    # For long rows numpy 1.26 is faster without an axis.
    return np.array([np.count_nonzero(row) for row in mask])


def _upper_bits(values: Matrix) -> NDArray[np.int16]:
    """The upper 16 bits, as integers in the order of the floats themselves."""
    integer, shift = UPPER[values.dtype]
    upper: NDArray[np.int16] = (values.view(integer) >> shift).astype(np.int16)
    # Negative floats grow as their bits shrink: all bits but the sign are turned round.
    upper ^= (upper >> 15) & np.int16(0x7FFF)
    return upper


Item = TypeVar("Item")

QUANTILES = 17
"""The number of order statistics that a summary keeps.

They are enough to tell two arrays of one size apart, whatever their layout.
"""

ELEMENTS_AT_ONCE = 1 << 16
"""About how many elements are summarised at once.

They are few enough for the processor's cache, and enough to make a step worth it.
"""

SummaryFigures = tuple[float, float, float, float, int, int, tuple[float, ...]]
"""The fields of a Summary before ``whole``, in their order."""


def summarise(array: AnyArray, dtype: str | None = None) -> Summary:
    """The summary of a numpy array of any shape.

    Elements are kept when there are at most SMALL.
    """
    return summarise_all([array], [dtype])[0]


def summarise_all(arrays: Sequence[AnyArray], dtypes: Sequence[str | None]) -> list[Summary]:
    """The summary of each array, bit for bit as if it were alone.

    Arrays of one size and dtype are summarised together. ``dtypes`` are the tensors' own dtypes,
    None where it is the array's.
    """
    arrays = [np.asarray(array) for array in arrays]
    groups: dict[Any, list[int]] = {}
    for index, (array, dtype) in enumerate(zip(arrays, dtypes, strict=True)):
        groups.setdefault((array.size, array.dtype, dtype), []).append(index)

    summaries: list[Any] = [None] * len(arrays)
    for (size, array_dtype, dtype), members in groups.items():
        native = array_dtype.newbyteorder("=")
        for batch in batches(members, size):
            flat = np.concatenate([arrays[index].ravel() for index in batch])
            rows = flat.astype(native, copy=False).reshape(len(batch), size)
            shapes = [arrays[index].shape for index in batch]
            of_batch = summarise_rows(rows, shapes, dtype or array_dtype.name)
            for index, summary in zip(batch, of_batch, strict=True):
                summaries[index] = summary
    return summaries


def batches(members: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Arrays of one size, in as many at a time as are best summarised together."""
    step = max(1, ELEMENTS_AT_ONCE // max(1, size))
    for start in range(0, len(members), step):
        yield members[start : start + step]


def excerpt(array: Array, places: Iterable[int] = ()) -> Array:
    """An array of more than LARGE elements without most of them; any other as it is.

    The first SMALL elements stay, and those at the flat indices ``places``.
    """
    if array.size <= LARGE or array.excerpt is not None:
        return array
    elements = unpack(array).ravel()
    later = tuple(sorted({place for place in places if place >= SMALL}))
    data = np.concatenate([elements[:SMALL], elements[list(later)]])
    summary = msgspec.structs.replace(summarise(elements, array.dtype), whole=None)
    return Array(array.shape, array.dtype, data.tobytes(), Excerpt(summary, later))


def brief(array: AnyArray, dtype: str) -> Array:
    """The record of a numpy array; of a large one an excerpt, whose figures have no quantiles.

    Sorting would take more time than all else where each step of a training is recorded.
    """
    if array.size <= LARGE:
        return pack(array, dtype)
    elements = np.ascontiguousarray(array).ravel()
    data = elements[:SMALL].astype(carrier(dtype)).tobytes()
    return Array(array.shape, dtype, data, Excerpt(_brief_summary(elements)))


FEW = 8
"""So many elements are kept of a tensor where a long record keeps no more."""


def spread(elements: AnyArray) -> AnyArray:
    """FEW of the elements of a flat array, from the first to the last; all where there are no more."""
    return elements[_few_places(elements.size)]


@lru_cache
def _few_places(size: int) -> NDArray[np.intp]:
    return np.linspace(0, size - 1, min(size, FEW)).round().astype(np.intp)


def few(array: Array) -> Array:
    """The record of an array as far as FEW of the elements that it has, with the figures of all."""
    elements = np.frombuffer(array.data, carrier(array.dtype))
    if elements.size <= FEW:
        return array
    summary = array.excerpt.summary if array.excerpt else _brief_summary(elements)
    places = tuple(_few_places(elements.size).tolist())
    return Array(array.shape, array.dtype, spread(elements).tobytes(), Excerpt(summary, places))


def _brief_summary(elements: AnyArray) -> Summary:
    if elements.dtype.kind == "c":
        elements = real_parts(elements).ravel()
    finite = elements
    least, greatest = float(elements.min()), float(elements.max())
    if not np.isfinite([least, greatest]).all():  # a NaN makes both NaN
        finite = elements[np.isfinite(elements)]
        least, greatest = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    with np.errstate(over="ignore"):
        mean = float(finite.mean(dtype=np.float64)) if finite.size else 0.0
        norm = math.sqrt(float(np.einsum("i,i->", finite, finite, dtype=np.float64)))
    infinities = int((elements == np.inf).sum()), int((elements == -np.inf).sum())
    zeros = finite.size - int(np.count_nonzero(finite))
    nonfinite = elements.size - finite.size
    return Summary(least, greatest, mean, norm, zeros, nonfinite, (), None, infinities)


def summarise_rows(rows: AnyArray, shapes: Sequence[tuple[int, ...]], dtype: str) -> list[Summary]:
    """The summaries of arrays of one size and dtype that are the rows of a C-contiguous matrix.

    ``shapes`` are the arrays' own shapes, one a row.
    """
    wholes: list[Array | None] = [None] * len(rows)
    if _room.get(NO_ROOM).takes(*rows.shape):
        kept = rows.astype(carrier(dtype), copy=False)
        data = kept.tobytes()
        length = rows.shape[1] * kept.itemsize
        for row, shape in enumerate(shapes):
            wholes[row] = Array(shape, dtype, data[row * length : (row + 1) * length])
    if rows.dtype.kind == "c":
        rows = real_parts(rows).reshape(len(rows), -1)
    summaries = []
    for row, figures, whole in zip(rows, _figures(rows), wholes, strict=True):
        summary = Summary(*figures, whole)
        if summary.nonfinite:
            # numpy 2.3 counts in numbers of its own, which no record can hold.
            infinities = int((row == np.inf).sum()), int((row == -np.inf).sum())
            summary = Summary(*figures, whole, infinities)
        summaries.append(summary)
    return summaries


def _figures(rows: AnyArray) -> list[SummaryFigures]:
    if not rows.size:
        return [_no_figures(nonfinite=0)] * len(rows)

    # Rows with a NaN or an infinity are rare: they are looked at alone, the others together.
    finite = np.isfinite(rows).all(axis=1)
    if finite.all():
        return _figures_of_finite(rows)
    together = iter(_figures(rows[finite]))
    figures = []
    for row, is_finite in zip(rows, finite.tolist(), strict=True):
        figures.append(next(together) if is_finite else _figures_of_mixed(row))
    return figures


def _figures_of_finite(rows: AnyArray) -> list[SummaryFigures]:
    size = rows.shape[1]
    if rows.dtype == np.float16:
        rows = rows.astype(np.float32)  # numpy sorts float32 many times as fast
    ranks = np.linspace(0, size - 1, QUANTILES).round().astype(int)
    quantiles = order_statistics(rows, ranks).astype(np.float64).tolist()
    zeros = (size - count_true(rows != 0)).tolist()

    wide = rows.astype(np.float64, copy=False)
    means = _means(wide).tolist()
    with np.errstate(over="ignore"):
        # (A product of matrices is summed by the machine's BLAS, for one row otherwise than for several.)
        norms = np.sqrt(np.einsum("ij,ij->i", wide, wide)).tolist()

    figures = []
    for order, mean, norm, zero in zip(quantiles, means, norms, zeros, strict=True):
        figures.append((order[0], order[-1], mean, norm, zero, 0, tuple(order)))
    return figures


def _means(rows: AnyArray) -> AnyArray:
    """The mean of each row of finite float64 numbers, which may be as great as floats can be."""
    with np.errstate(over="ignore", invalid="ignore"):
        means: AnyArray = rows.mean(axis=1)
        # Where the sum overflows, the numbers are divided first; elsewhere that would cost them a
        # rounding each. Rounding must not take a mean past the greatest of them either.
        great = ~np.isfinite(means)
        parts = rows[great] / rows.shape[1]
        least, greatest = rows[great].min(axis=1), rows[great].max(axis=1)
        means[great] = np.clip(parts.sum(axis=1), least, greatest)
    return means


def _figures_of_mixed(row: AnyArray) -> SummaryFigures:
    """The figures of one array that holds something that is not finite."""
    finite = row[np.isfinite(row)]
    if not finite.size:
        return _no_figures(nonfinite=row.size)
    minimum, maximum, mean, norm, zeros, _, quantiles = _figures_of_finite(finite[None, :])[0]
    return minimum, maximum, mean, norm, zeros, row.size - finite.size, quantiles


def _no_figures(nonfinite: int) -> SummaryFigures:
    return 0.0, 0.0, 0.0, 0.0, 0, nonfinite, ()


UNIT = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "complex64": 2.0**-24,
    "complex128": 2.0**-53,
}
"""Half a unit in the last place of 1: the greatest relative error of one rounding."""

GREATEST = {
    "float64": float(np.finfo(np.float64).max),
    "float32": float(np.finfo(np.float32).max),
    "float16": float(np.finfo(np.float16).max),
    "bfloat16": (2 - 2.0**-7) * 2.0**127,  # numpy has none
    "complex64": float(np.finfo(np.float32).max),
    "complex128": float(np.finfo(np.float64).max),
}
"""The greatest finite number, by dtype."""

MASK = 1e4
"""Elements this many times greater than the typical one do not raise the scale of rounding.

Such are the -1e9 of attention masks.
"""

FEW_UNITS = 4
"""An element that moves by at most so many times UNIT of itself is rounded, and no more."""


LEAST_OF_ONE = 8
"""An example of fewer elements does not tell what is typical of it."""

FAR_LESS = 1000.0
"""How many times less the elements of an example move than those of all, to have a noise of their own."""


def rounded_masks(values: Floats, movement: Floats, dtype: str) -> NDArray[Any]:
    """Which elements are masks that only their own rounding moves: that of -1e9 is 64 in float32.

    ``movement`` is how far each element of ``values`` moves, and ``dtype`` that of the tensor.
    """
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    numbers = sizes[sizes > 0]
    typical = quantile(numbers, 0.25) if numbers.size else 0.0
    is_rounded = movement <= FEW_UNITS * UNIT.get(dtype, 0.0) * sizes
    masks: NDArray[Any] = (sizes > MASK * typical) & is_rounded
    return masks
