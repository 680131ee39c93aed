"""Digests of the states of random generators, which say whether two steps drew alike, and of arrays."""

import hashlib
import random
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray


def digest(content: bytes) -> str:
    """A short digest of a state."""
    return hashlib.sha256(content).hexdigest()[:16]


def of_python() -> dict[str, str]:
    """The digests of the generators of numpy and of Python."""
    return {
        "numpy": digest(_bytes_of(np.random.get_state())),
        "python": digest(repr(random.getstate()).encode()),
    }


def _bytes_of(state: Any) -> bytes:
    """The state of numpy's generator as bytes; its keys as they lie in memory."""
    name, keys, *rest = state
    return b"".join((str(name).encode(), keys.tobytes(), repr(rest).encode()))


def digest_of(array: AnyArray) -> str:
    """What tells the values of an array: equal for the same elements of one dtype in one shape."""
    return digest(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
