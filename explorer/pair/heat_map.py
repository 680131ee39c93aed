"""A heat map of an array as the browser draws it: a byte a cell."""

import base64

import msgspec
import numpy as np
from numpy.typing import NDArray

from explorer.model.arrays import AnyArray

NOT_FINITE, ZERO, REACH = 0, 128, 127
"""The byte of a cell that is not finite, that of zero, and how far the others are from it."""


class HeatMap(msgspec.Struct, frozen=True):
    """A heat map.

    ``cells`` are its bytes in base64, row by row: 0 is not finite, 128 is zero, 1 and 255 are the
    value farthest from zero, below and above. ``range`` says which values these are.
    """

    rows: int
    columns: int
    cells: str
    range: str


def heat_map(array: AnyArray) -> HeatMap:
    """The heat map of an array, whose last axis is its columns; of a complex one by magnitudes."""
    values = np.abs(array) if array.dtype.kind == "c" else array
    plane = values.astype(np.float64).reshape(-1, array.shape[-1] if array.ndim else 1)
    finite = np.isfinite(plane)
    farthest = float(np.max(np.abs(plane[finite]), initial=0.0))
    cells = _cells(plane, finite, farthest)
    rows, columns = plane.shape
    text = base64.b64encode(cells.tobytes()).decode()
    is_signed = bool((plane[finite] < 0).any())
    least = f"−{farthest:.3g}" if is_signed else "0"
    return HeatMap(rows, columns, text, f"{least} … {farthest:.3g}")


def _cells(
    plane: NDArray[np.float64], finite: NDArray[np.bool_], farthest: float
) -> NDArray[np.uint8]:
    parts = np.where(finite, plane, 0.0) / (farthest or 1.0)
    cells = np.round(ZERO + REACH * parts)
    return np.where(finite, cells, NOT_FINITE).astype(np.uint8)
