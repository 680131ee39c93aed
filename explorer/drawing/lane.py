"""One lane of a ladder: boxes in rows, and the free vertical corridors between them for edges that
pass rows by.
"""

import bisect
from collections import defaultdict
from collections.abc import Mapping

from explorer.drawing.picture import Card

CLEAR = 12.0
"""How far a passing edge stays from a box."""

APART = 6.0
"""How far passing edges of different origins stay from each other."""

FAR = 60
"""An edge that passes more rows than this goes to the gutter beside the lane without looking for a
way between boxes.
"""


class Lane:
    """Boxes at a row and a horizontal centre. Corridors are handed out one after the other and stay
    taken.
    """

    def __init__(
        self,
        cards: Mapping[str, Card],
        rows: Mapping[str, int],
        centres: Mapping[str, float],
        gutter: int,
    ) -> None:
        """``gutter`` is the side on which edges go that find no way: -1 left, 1 right."""
        self.cards, self.rows, self.centres, self.gutter = cards, rows, dict(centres), gutter
        self.boxes: defaultdict[int, list[tuple[float, float, str]]] = defaultdict(list)
        for node, centre in self.centres.items():
            half = cards[node].width / 2
            self.boxes[rows[node]].append((centre - half, centre + half, node))
        for row in self.boxes.values():
            row.sort()
        self.taken: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)
        self.gutters: dict[tuple[int, str], float] = {}
        self.left = min((row[0][0] for row in self.boxes.values()), default=0.0)
        self.right = max((row[-1][1] for row in self.boxes.values()), default=0.0)

    def shift(self, by: float) -> None:
        """Moves the whole lane sideways; for when all its corridors are handed out."""
        self.centres = {node: x + by for node, x in self.centres.items()}
        for row, boxes in self.boxes.items():
            self.boxes[row] = [(x0 + by, x1 + by, node) for x0, x1, node in boxes]
        self.left += by
        self.right += by

    def clear_left(self, node: str) -> bool:
        """Whether nothing stands between a node and the lane's left edge."""
        return self.boxes[self.rows[node]][0][2] == node

    def clear_right(self, node: str) -> bool:
        """Whether nothing stands between a node and the lane's right edge."""
        return self.boxes[self.rows[node]][-1][2] == node

    def half(self, node: str) -> float:
        """Half the width of a node's box."""
        return self.cards[node].width / 2

    def corridor(self, origin: str, target: str, first: int, last: int) -> float:
        """The x of a vertical way past rows ``first`` to ``last``, near the target; taken for this
        origin from now on.
        """
        blocked = [] if last - first > FAR else self._blocked(origin, first, last)
        wish = (self.centres[target], self.centres[origin])
        choices = [x for w in wish for x in _free(blocked, w)] if last - first <= FAR else []
        inside = [x for x in choices if self.left - 40 <= x <= self.right + 40]
        x = (
            min(inside, key=lambda x: (min(abs(x - w) for w in wish), x))
            if inside
            else self._gutter(origin)
        )
        for row in range(first, last + 1):
            bisect.insort(self.taken[row], (x, origin))
        return x

    def _blocked(self, origin: str, first: int, last: int) -> list[tuple[float, float]]:
        spans = []
        for row in range(first, last + 1):
            spans += [(x0 - CLEAR, x1 + CLEAR) for x0, x1, _ in self.boxes.get(row, ())]
            spans += [
                (x - APART, x + APART) for x, owner in self.taken.get(row, ()) if owner != origin
            ]
        return merged(spans)

    def _gutter(self, origin: str) -> float:
        key = (self.gutter, origin)
        if key not in self.gutters:
            edge = self.left if self.gutter < 0 else self.right
            self.gutters[key] = edge + self.gutter * (CLEAR + 12 + APART * (len(self.gutters) % 24))
        return self.gutters[key]

    def extent(self) -> tuple[float, float]:
        """The lane's left and right edge with its gutters."""
        ways = [x for row in self.taken.values() for x, _ in row]
        return min([self.left, *(x - CLEAR for x in ways)]), max(
            [self.right, *(x + CLEAR for x in ways)]
        )


def merged(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of intervals, as disjoint intervals from left to right."""
    union: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(end, union[-1][1]))
        else:
            union.append((start, end))
    return union


def _free(blocked: list[tuple[float, float]], wish: float) -> tuple[float, ...]:
    """The free places nearest to ``wish``: itself, or both ends of the interval that blocks it."""
    for start, end in blocked:
        if start < wish < end:
            return (start, end)
    return (wish,)
