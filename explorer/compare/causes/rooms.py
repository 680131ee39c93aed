"""How far two values may be apart that are the same up to rounding: what compare/graphs/sameness.py says."""

from explorer.compare.graphs.sameness import (
    EXPLAINED,
    ROUNDING,
    Sameness,
    apart_if_same,
    apart_in_any_order,
    are_equal,
    distance,
    is_telling,
    noise_of,
    numbers_of,
    room_of,
)

Room = Sameness

__all__ = [
    "EXPLAINED",
    "ROUNDING",
    "Room",
    "apart_if_same",
    "apart_in_any_order",
    "are_equal",
    "distance",
    "is_telling",
    "noise_of",
    "numbers_of",
    "room_of",
]
