"""Arrays as plain records: how a tensor leaves a worker, and what is kept of it when it is large."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.ranks import counted, ranked

AnyArray = NDArray[Any]
Item = TypeVar("Item")

SMALL = 1024
"""An array of at most this many elements is kept whole wherever a large one is summarised."""

QUANTILES = 17
"""How many order statistics a summary keeps; enough to tell two arrays of one size apart, whatever their layout."""

TOGETHER = 1 << 16
"""About how many elements are summarised at once: few enough for the processor's cache, enough to make each step worth it."""

NUMPY_NAMES = {"bfloat16": "float32"}
"""dtypes that numpy lacks, and the wider dtype that carries their values without loss."""


class Array(msgspec.Struct, frozen=True):
    """All elements of one tensor: shape, dtype name (``float32``, ``bfloat16``, …), and its bytes in C order, little endian.

    A bfloat16 tensor is carried as float32, which holds every bfloat16 value.
    """

    shape: tuple[int, ...]
    dtype: str
    data: bytes


class Summary(msgspec.Struct, frozen=True):
    """What is kept of a tensor's values: figures that do not depend on its layout, and every element when it is small.

    ``quantiles`` are QUANTILES order statistics of the finite elements, from least to greatest, as float64; ``norm`` is
    the Euclidean norm. All figures are over the finite elements; ``nonfinite`` counts the others, ``zeros`` the exact zeros.
    """

    minimum: float
    maximum: float
    mean: float
    norm: float
    zeros: int
    nonfinite: int
    quantiles: tuple[float, ...]
    whole: Array | None = None


def pack(array: AnyArray, dtype: str | None = None) -> Array:
    """The record of a numpy array; ``dtype`` names the tensor's own dtype where that is not the array's."""
    name = dtype or np.asarray(array).dtype.name
    whole = np.asarray(array, np.dtype(NUMPY_NAMES.get(name, name)))
    return Array(whole.shape, name, np.ascontiguousarray(whole).tobytes())


def unpack(array: Array) -> AnyArray:
    """The numpy array of a record (bfloat16 as float32); a read-only view of the record's bytes."""
    return np.frombuffer(array.data, np.dtype(NUMPY_NAMES.get(array.dtype, array.dtype))).reshape(array.shape)


def summarise(array: AnyArray, dtype: str | None = None) -> Summary:
    """The summary of a real-valued numpy array of any shape; elements are kept when there are at most SMALL."""
    return summarise_all([array], [dtype])[0]


def summarise_all(arrays: Sequence[AnyArray], dtypes: Sequence[str | None]) -> list[Summary]:
    """The summary of each array, bit for bit as if it were alone; those of one size are looked at together.

    ``dtypes`` are the tensors' own dtypes, None where it is the array's.
    """
    given = [np.asarray(array) for array in arrays]
    groups: dict[Any, list[int]] = {}
    for index, (array, dtype) in enumerate(zip(given, dtypes, strict=True)):
        groups.setdefault((array.size, array.dtype, dtype), []).append(index)
    found: list[Any] = [None] * len(given)
    for (size, kind, dtype), members in groups.items():
        name, native = dtype or kind.name, kind.newbyteorder("=")
        for part in batches(members, size):
            joined = np.concatenate([given[index].ravel() for index in part]).astype(native, copy=False)
            made = summarise_rows(joined.reshape(len(part), size), [given[index].shape for index in part], name)
            for index, summary in zip(part, made, strict=True):
                found[index] = summary
    return found


def batches(members: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Arrays of one size, in as many at a time as are best summarised together."""
    step = max(1, TOGETHER // max(1, size))
    return (members[start : start + step] for start in range(0, len(members), step))


def summarise_rows(rows: AnyArray, shapes: Sequence[tuple[int, ...]], dtype: str) -> list[Summary]:
    """The summaries of arrays of one size and dtype that are the rows of a C-contiguous matrix; ``shapes`` are their own."""
    wholes: list[Array | None] = [None] * len(rows)
    if rows.shape[1] <= SMALL:
        kept = rows.astype(np.dtype(NUMPY_NAMES.get(dtype, dtype)), copy=False)
        data, length = kept.tobytes(), rows.shape[1] * kept.itemsize
        wholes = [Array(shape, dtype, data[row * length : (row + 1) * length]) for row, shape in enumerate(shapes)]
    return [Summary(*figures, whole) for figures, whole in zip(_figures(rows), wholes, strict=True)]


Figures = tuple[float, float, float, float, int, int, tuple[float, ...]]
"""The fields of a Summary before ``whole``, in their order."""


def _figures(rows: AnyArray) -> list[Figures]:
    size = rows.shape[1]
    if not rows.size:
        return [_none(0)] * len(rows)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        others = iter(_figures(rows[finite]))
        return [next(others) if good else _alone(row) for row, good in zip(rows, finite.tolist(), strict=True)]
    if rows.dtype == np.float16:
        rows = rows.astype(np.float32)
    ranks = np.linspace(0, size - 1, QUANTILES).round().astype(int)
    wide = rows.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        norms = np.sqrt(np.matmul(wide[:, None, :], wide[:, :, None])).ravel().tolist()
    means = wide.mean(axis=1).tolist()
    zeros = (size - counted(rows != 0)).tolist()
    quantiles = ranked(rows, ranks).astype(np.float64).tolist()
    return [
        (order[0], order[-1], mean, norm, zero, 0, tuple(order))
        for order, mean, norm, zero in zip(quantiles, means, norms, zeros, strict=True)
    ]


def _alone(row: AnyArray) -> Figures:
    """The figures of one array that may hold what is not finite."""
    finite = row[np.isfinite(row)]
    if not finite.size:
        return _none(row.size)
    minimum, maximum, mean, norm, zeros, _, quantiles = _figures(finite[None, :])[0]
    return minimum, maximum, mean, norm, zeros, row.size - finite.size, quantiles


def _none(nonfinite: int) -> Figures:
    return 0.0, 0.0, 0.0, 0.0, 0, nonfinite, ()


def plain(value: Any) -> Any:
    """Nested lists of numbers ready for strict JSON: what is not finite becomes "NaN", "Infinity" or "-Infinity"."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def digits(values: Sequence[float] | AnyArray, limit: int = 6, precision: int = 5) -> str:
    """A short reading of an array for tables and boxes: ``[[4, 6, 8]]``, or its first elements and an ellipsis.

    ``limit`` is the greatest number of elements shown, ``precision`` that of significant digits.
    """
    array = np.asarray(values)
    if array.size > limit:
        shown = " ".join(_nested(item, precision) for item in array.ravel()[:limit].tolist())
        return f"{array.shape} {shown} …"
    return _nested(array.tolist(), precision)


def _nested(value: Any, precision: int) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_nested(item, precision) for item in value) + "]"
    return f"{value:.{precision}g}" if isinstance(value, float) else str(value)
