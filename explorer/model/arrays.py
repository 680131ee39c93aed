"""Arrays as plain records: how a tensor leaves a worker, and what is kept of one that is large."""

import math
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]

SMALL = 1024
"""An array of at most this many elements is kept whole wherever a larger one is summarised."""

LARGE = 1 << 14
"""Of an array of more elements a report keeps an excerpt."""

CARRIERS = {"bfloat16": "float32"}
"""dtypes that numpy (< 2) lacks, and the wider dtype that carries their values without loss."""


class Array(msgspec.Struct, frozen=True, omit_defaults=True):
    """The elements of one tensor, as bytes.

    ``dtype`` is a name (``float32``, ``bfloat16``, …), and ``data`` is in C order, little endian. A
    bfloat16 tensor is carried as float32, which holds every bfloat16 value. ``excerpt`` is None where
    ``data`` holds all elements.
    """

    shape: tuple[int, ...]
    dtype: str
    data: bytes
    excerpt: "Excerpt | None" = None

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


class Summary(msgspec.Struct, frozen=True):
    """Figures of a tensor's values, and every element when the tensor is small.

    The figures do not depend on the tensor's layout. ``quantiles`` are order statistics of the
    finite elements, from least to greatest, as float64; ``norm`` is the Euclidean norm. All figures
    are over the finite elements; ``nonfinite`` counts the others, ``zeros`` the exact zeros. Those
    of a complex tensor are over all its real and imaginary parts, as real numbers. ``infinities``
    counts inf and -inf among the others, the rest of which is NaN.
    """

    minimum: float
    maximum: float
    mean: float
    norm: float
    zeros: int
    nonfinite: int
    quantiles: tuple[float, ...]
    whole: Array | None = None
    infinities: tuple[int, int] = (0, 0)


class Excerpt(msgspec.Struct, frozen=True):
    """What a report keeps of a tensor that is too large for it.

    ``summary`` is that of all elements. The data of the array are its first elements, and behind
    them those at the flat indices ``places``.
    """

    summary: Summary
    places: tuple[int, ...] = ()


def carrier(dtype: str) -> "np.dtype[Any]":
    """The numpy dtype that carries the elements of a tensor whose own dtype is called ``dtype``."""
    return np.dtype(CARRIERS.get(dtype, dtype))


def pack(array: AnyArray, dtype: str | None = None) -> Array:
    """The record of a numpy array.

    ``dtype`` names the tensor's own dtype where that is not the array's.
    """
    name = dtype or np.asarray(array).dtype.name
    whole = np.asarray(array, carrier(name))
    return Array(whole.shape, name, np.ascontiguousarray(whole).tobytes())


def unpack(array: Array) -> AnyArray:
    """The numpy array of a record (bfloat16 as float32); a read-only view of the record's bytes.

    Raises ValueError for an excerpt.
    """
    return _elements(array).reshape(array.shape)


def first_elements(array: Array) -> AnyArray:
    """The first elements of a record in C order: all of them, or those of an excerpt."""
    elements = _elements(array)
    if array.excerpt is None:
        return elements
    return elements[: elements.size - len(array.excerpt.places)]


def element(array: Array, index: tuple[int, ...]) -> Any:
    """The element of a record at an index; None where an excerpt does not have it."""
    elements = _elements(array)
    place = int(np.ravel_multi_index(index, array.shape)) if index else 0
    if array.excerpt is None:
        return elements[place]
    places = array.excerpt.places
    known = elements.size - len(places)
    if place < known:
        return elements[place]
    return elements[known + places.index(place)] if place in places else None


def _elements(array: Array) -> AnyArray:
    return np.frombuffer(array.data, carrier(array.dtype))
