"""The two sides of an alignment."""

from typing import Literal

SideName = Literal["left", "right"]
"""One of the two graphs; records have what belongs to the left one first."""

OTHER: dict[SideName, SideName] = {"left": "right", "right": "left"}
"""The other side of each."""
