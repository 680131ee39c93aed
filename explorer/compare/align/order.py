"""The longest choice of partners that keeps the order of both sides."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

NEAREST = 64
"""The number of candidates of one item that are considered, those nearest in position."""


class MovingWindow(Generic[T]):
    """Candidates that several items share: a window on them moves along from item to item."""

    def __init__(self, candidates: Sequence[T]) -> None:
        self._candidates = candidates
        self._position = 0

    def advance(self) -> Sequence[T]:
        """The candidates near the position of the next item."""
        low = min(self._position - NEAREST // 2, len(self._candidates) - NEAREST)
        low = max(0, low)
        self._position += 1
        return self._candidates[low : low + NEAREST]


def increasing(
    choices: Iterable[tuple[T, MovingWindow[T]]], rank: Callable[[T], int]
) -> list[tuple[T, T]]:
    """Pairs (item, candidate), at most one of each, with strictly increasing ranks of candidates.

    ``choices`` come in the order of their items. Hunt and Szymanski, A fast algorithm for computing
    longest common subsequences, Communications of the ACM 20 (5), 1977.
    """
    # tails[n] is the least rank that a chain of n + 1 pairs ends at, ends[n] the pair it ends with.
    tails: list[int] = []
    ends: list[int] = []
    chained: list[tuple[T, T, int]] = []  # item, candidate, and the pair that stands before it
    for item, window in choices:
        # From the last candidate to the first, so that no item follows upon itself.
        for candidate in sorted(window.advance(), key=rank, reverse=True):
            length = bisect_left(tails, rank(candidate))
            chained.append((item, candidate, ends[length - 1] if length else -1))
            tails[length : length + 1] = [rank(candidate)]
            ends[length : length + 1] = [len(chained) - 1]

    chosen = []
    place = ends[-1] if ends else -1
    while place >= 0:
        item, candidate, place = chained[place]
        chosen.append((item, candidate))
    return chosen[::-1]
