"""The longest choice of partners that keeps the order of both sides (Hunt and Szymanski, 1977)."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

NEAREST = 64
"""How many candidates of one node are considered; those nearest in relative position."""


def increasing(
    options: Sequence[tuple[T, Sequence[T]]], rank: Callable[[T], int]
) -> list[tuple[T, T]]:
    """Pairs (item, candidate), at most one of each, with strictly increasing ranks; ``options``
    come in the left order.
    """
    tails: list[int] = []
    ends: list[int] = []
    steps: list[tuple[T, T, int]] = []
    seen: dict[int, int] = {}
    for item, others in options:
        for other in sorted(_nearest(others, seen), key=rank, reverse=True):
            place = bisect_left(tails, rank(other))
            steps.append((item, other, ends[place - 1] if place else -1))
            tails[place : place + 1] = [rank(other)]
            ends[place : place + 1] = [len(steps) - 1]
    chosen = []
    step = ends[-1] if ends else -1
    while step >= 0:
        item, other, step = steps[step]
        chosen.append((item, other))
    return chosen[::-1]


def _nearest(others: Sequence[T], seen: dict[int, int]) -> Sequence[T]:
    """A window on a long shared list of candidates that moves along with the items that share it."""
    start = seen.get(id(others), 0)
    seen[id(others)] = start + 1
    low = max(0, min(start - NEAREST // 2, len(others) - NEAREST))
    return others[low : low + NEAREST]
