"""Arrays as plain records: how a tensor leaves a worker, and what is kept of it when it is large."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]

SMALL = 1024
"""An array of at most this many elements is kept whole wherever a large one is summarised."""

QUANTILES = 17
"""How many order statistics a summary keeps; enough to tell two arrays of one size apart, whatever their layout."""

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
    flat = np.asarray(array).ravel()
    wide = flat.astype(np.float64)
    finite = wide if np.isfinite(wide).all() else wide[np.isfinite(wide)]
    whole = pack(array, dtype) if flat.size <= SMALL else None
    if not finite.size:
        return Summary(0.0, 0.0, 0.0, 0.0, 0, int(flat.size), (), whole)
    ordered = np.sort(finite)
    picks = np.linspace(0, ordered.size - 1, QUANTILES).round().astype(int)
    return Summary(
        minimum=float(ordered[0]),
        maximum=float(ordered[-1]),
        mean=float(finite.mean()),
        norm=float(np.linalg.norm(finite)),
        zeros=int(np.count_nonzero(finite == 0)),
        nonfinite=int(flat.size - finite.size),
        quantiles=tuple(ordered[picks].tolist()),
        whole=whole,
    )


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
