"""Summaries of arrays: figures that tell two tensors apart whatever their layout.

Many arrays are summarised at a time.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from explorer.model.arrays import SMALL, AnyArray, Array, Summary, carrier
from explorer.numeric.differences import real_parts
from explorer.numeric.order_statistics import count_true, order_statistics

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


def summarise_rows(rows: AnyArray, shapes: Sequence[tuple[int, ...]], dtype: str) -> list[Summary]:
    """The summaries of arrays of one size and dtype that are the rows of a C-contiguous matrix.

    ``shapes`` are the arrays' own shapes, one a row.
    """
    wholes: list[Array | None] = [None] * len(rows)
    if rows.shape[1] <= SMALL:
        kept = rows.astype(carrier(dtype), copy=False)
        data = kept.tobytes()
        length = rows.shape[1] * kept.itemsize
        for row, shape in enumerate(shapes):
            wholes[row] = Array(shape, dtype, data[row * length : (row + 1) * length])
    if rows.dtype.kind == "c":
        rows = real_parts(rows).reshape(len(rows), -1)
    return [Summary(*figures, whole) for figures, whole in zip(_figures(rows), wholes, strict=True)]


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
        norms = np.sqrt(np.matmul(wide[:, None, :], wide[:, :, None])).ravel().tolist()

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
