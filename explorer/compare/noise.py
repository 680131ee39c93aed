"""Noise and difference, the one rule of all comparisons, and the frameworks' tolerances."""

from explorer.compare.graphs.sameness import (
    CENTRAL,
    CLEAR,
    COARSE,
    EXACT,
    MINDSPORE_TABLE,
    NEAR,
    TORCH_TABLE,
    TYPICAL,
    UNMEASURED,
    farthest,
    greatest,
    level,
    rank,
    ratios,
    scale,
)

__all__ = [
    "CENTRAL",
    "CLEAR",
    "COARSE",
    "EXACT",
    "MINDSPORE_TABLE",
    "NEAR",
    "TORCH_TABLE",
    "TYPICAL",
    "UNMEASURED",
    "farthest",
    "greatest",
    "level",
    "rank",
    "ratios",
    "scale",
]
