"""JAX's arrays as numpy arrays and records."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from explorer.model.arrays import AnyArray, Array, pack


def dtype_of(value: Any) -> str:
    """The dtype name of an array, or of the form of one: "float32", "bfloat16", "key<fry>"."""
    return _name(value.dtype)


_name = cache(str)
"""The name of a dtype, for which numpy takes as long as for a small operation (1.26)."""


def array_of(value: Any) -> AnyArray:
    """The numpy array of an array on any device; bfloat16 as float32."""
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def packed(value: Any) -> Array:
    """The record of an array."""
    return pack(array_of(value), dtype_of(value))


def is_known(value: Any) -> bool:
    """Whether a value is an array, and not the form of one that was not kept."""
    return not isinstance(value, jax.ShapeDtypeStruct)


def is_plain(value: Any) -> bool:
    """Whether a record can hold an array: not the keys of random numbers, nor eight bits of a float."""
    dtype = value.dtype
    is_known = isinstance(dtype, np.dtype) and dtype.names is None
    return is_known and (dtype.kind != "V" or dtype.name == "bfloat16")


def is_floating(value: Any) -> bool:
    """Whether the elements of an array are real floating-point numbers, bfloat16 among them."""
    return bool(jnp.issubdtype(value.dtype, jnp.floating))
