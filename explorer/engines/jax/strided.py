"""A slice with steps: JAX 0.6 reads `x[..., 1::2]` by indices, and its gradient is a scatter."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

MOST_ELEMENTS = 10_000_000
"""A larger array is read by indices as JAX does it: where each element comes from takes as much memory."""

Written = tuple[Any, Mapping[str, Any], tuple[Any, ...]]
"""An operation and its parameters, and the numbers written behind its first operand."""


class Strided(NamedTuple):
    """A slice of an array of a ``shape``: its first places, the ends, and its steps, one for each axis."""

    shape: tuple[int, ...]
    starts: tuple[int, ...]
    limits: tuple[int, ...]
    strides: tuple[int, ...]

    def written(self) -> Written:
        """The slice as an operation."""
        names = ("start_indices", "limit_indices", "strides")
        return jax.lax.slice_p, dict(zip(names, self[1:], strict=True)), ()

    def gradient(self, zero: Any) -> Written:
        """What puts zeros where the slice has read nothing."""
        axes = zip(*self, strict=True)
        config = [
            (start, size - 1 - (limit - 1 - (limit - 1 - start) % stride), stride - 1)
            for size, start, limit, stride in axes
        ]
        return jax.lax.pad_p, {"padding_config": tuple(config)}, (zero,)


def strided(
    params: Mapping[str, Any], shape: Sequence[int], gathered: Callable[[Any], Any]
) -> Strided | None:
    """The slice that a gather of an array of a ``shape`` is; None where it is none.

    ``gathered`` is what it reads of another array. The indices of slices are sorted and unique by their
    parameters, as those of an array of indices are not.
    """
    size = math.prod(shape)
    if not (params["indices_are_sorted"] and params["unique_indices"]) or size > MOST_ELEMENTS:
        return None
    places = np.arange(size, dtype=np.int32).reshape(shape)
    read = np.asarray(gathered(places))
    if read.ndim != places.ndim or not read.size:
        return None
    starts = np.unravel_index(read.flat[0], shape)
    ends = np.unravel_index(read.flat[-1], shape)
    steps = [
        (end - start) // max(size - 1, 1) or 1
        for start, end, size in zip(starts, ends, read.shape, strict=True)
    ]
    found = Strided(
        tuple(shape),
        tuple(map(int, starts)),
        tuple(int(end) + 1 for end in ends),
        tuple(map(int, steps)),
    )
    slices = map(slice, *found[1:])
    return found if np.array_equal(places[tuple(slices)], read) else None
