"""How much of a recorded step is held, and how much of it is kept."""

import os

from explorer.model.arrays import Array
from explorer.numeric.summaries import excerpt

USUAL_MEMORY = 4 << 30
"""The memory that may be held where the system does not say how much is free, in bytes."""

MEGABYTE = 1 << 20


def free_memory() -> list[int]:
    """The memory of this machine that is free, in bytes; empty where the system does not say."""
    if hasattr(os, "sysconf") and "SC_AVPHYS_PAGES" in os.sysconf_names:
        return [os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    return []


def half_of(free: list[int]) -> int:
    """Half of the least memory of some devices, in bytes."""
    return min(free, default=2 * USUAL_MEMORY) // 2


class Budget:
    """So many elements that may still be kept."""

    def __init__(self, elements: int) -> None:
        self._left = elements

    def kept(self, array: Array) -> Array:
        """An array, as an excerpt where it is more than may be kept."""
        if array.size > self._left:
            return excerpt(array)
        self._left -= array.size
        return array
