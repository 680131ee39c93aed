"""Arrays as plain records: how a tensor leaves a worker, and what is kept of it when it is large."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.ranks import ranked

AnyArray = NDArray[Any]

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
    groups: dict[tuple[Any, int], list[int]] = {}
    flat = [np.asarray(array).ravel() for array in arrays]
    for index, each in enumerate(flat):
        groups.setdefault((each.dtype, each.size), []).append(index)
    found: list[Summary | None] = [None] * len(flat)
    for (kind, size), members in groups.items():
        step = max(1, TOGETHER // max(1, size))
        for start in range(0, len(members), step):
            part = members[start : start + step]
            joined = np.concatenate([flat[index] for index in part]).astype(kind.newbyteorder("="), copy=False)
            rows = joined.reshape(len(part), size)
            for index, figures in zip(part, _figures(rows), strict=True):
                whole = pack(arrays[index], dtypes[index]) if size <= SMALL else None
                found[index] = Summary(*figures, whole)
    return [summary for summary in found if summary is not None]


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
    zeros = (size - np.count_nonzero(rows, axis=1)).tolist()
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
