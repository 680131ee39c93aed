"""Order statistics of the rows of a matrix, found without sorting all that they do not depend on.

numpy sorts 16-bit integers digit by digit, several times as fast as it sorts floats by comparison. The upper 16 bits of a float
order it among all others but those that share them; of these, only the few at the wanted ranks are sorted as floats.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[Any]

WORTH_IT = 200
"""From about this many elements a row on, this is faster than a plain sort."""

UPPER = {np.dtype(np.float32): (np.int32, 16), np.dtype(np.float64): (np.int64, 48)}
"""Floats that are looked at by their upper 16 bits: the integer of their width, and how far to shift it."""


def ranked(matrix: Matrix, ranks: NDArray[np.intp]) -> Matrix:
    """What stands at ``ranks`` (ascending) of each row once the row is sorted; zeros come without a sign.

    ``matrix`` is C-contiguous, finite, and in the machine's byte order.
    """
    if matrix.dtype in UPPER and matrix.shape[1] >= WORTH_IT:
        return _by_upper_bits(matrix, ranks)
    picked: Matrix = np.sort(matrix, axis=1)[:, ranks]
    return picked + 0.0 if picked.dtype.kind == "f" else picked


def _by_upper_bits(matrix: Matrix, ranks: NDArray[np.intp]) -> Matrix:
    nonzero = matrix != 0
    upper = _upper(matrix) * nonzero  # a zero of either sign is the least of what shares the upper bits of 0.0
    digits = np.sort(upper, axis=1, kind="stable")
    wanted = digits[:, ranks]
    first = np.array([row.searchsorted(each) for row, each in zip(digits, wanted, strict=True)])
    zeros = matrix.shape[1] - counted(nonzero)[:, None]
    inside = ranks - first - zeros * (wanted == 0)
    sharing = _sharing(upper, wanted) & nonzero
    counts = counted(sharing)
    held = matrix[sharing]
    start = 0
    for end in np.cumsum(counts).tolist():
        held[start:end].sort()
        start = end
    lane = np.arange(len(matrix)) << 16
    keys = _upper(held) + np.repeat(lane, counts)
    places = keys.searchsorted((wanted + lane[:, None]).ravel()).reshape(wanted.shape) + inside
    found = np.zeros(wanted.shape, matrix.dtype)
    found[inside >= 0] = held[places[inside >= 0]]
    return found


def _sharing(upper: NDArray[np.int16], wanted: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Which integers of a row are among the wanted of that row."""
    among = np.zeros(1 << 16, np.bool_)
    sharing = np.empty(upper.shape, np.bool_)
    places, marked = upper.view(np.uint16).astype(np.intp), wanted.view(np.uint16)
    for row, (place, mark) in enumerate(zip(places, marked, strict=True)):
        among[mark] = True
        sharing[row] = among[place]
        among[mark] = False
    return sharing


def counted(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """How many of each row are true."""
    if mask.shape[1] < WORTH_IT:
        return np.asarray(np.count_nonzero(mask, axis=1))
    return np.array([np.count_nonzero(row) for row in mask])


def _upper(values: Matrix) -> NDArray[np.int16]:
    """The upper 16 bits, as integers in the order of the floats themselves."""
    integer, shift = UPPER[values.dtype]
    upper: NDArray[np.int16] = (values.view(integer) >> shift).astype(np.int16)
    upper ^= (upper >> 15) & np.int16(0x7FFF)
    return upper
