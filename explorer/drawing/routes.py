"""Paths whose heights are not known yet: drawn in terms of boxes, rows and gaps, and made into SVG
paths once rows have a y.
"""

from collections import defaultdict
from typing import Literal

import msgspec

ROUND = 6.0
"""Radius of the corners of a path."""


class Height(msgspec.Struct, frozen=True):
    """A y to be: beside a box ("at"), at a row's upper or lower edge, or on a track of the gap
    above a row.

    ``of`` is a node id, or a row; ``more`` is an offset in points, or the track.
    """

    where: Literal["at", "top", "bottom", "gap"]
    of: str | int
    more: float = 0.0


class Step(msgspec.Struct, frozen=True):
    """One step of a path: a straight line, a curve that leaves and arrives upright ("down"), or
    level ("across").
    """

    how: Literal["line", "down", "across"]
    x: float
    y: Height


class Route(msgspec.Struct, frozen=True):
    """One edge's way: it starts at the first step's point and follows the others."""

    origin: str
    target: str
    kind: Literal["forward", "backward", "rung", "leaf", "gradient", "control"]
    steps: tuple[Step, ...]


def line(x: float, y: Height) -> Step:
    """A straight step."""
    return Step("line", x, y)


def down(x: float, y: Height) -> Step:
    """A curve that leaves and arrives upright."""
    return Step("down", x, y)


def across(x: float, y: Height) -> Step:
    """A curve that leaves and arrives level."""
    return Step("across", x, y)


class Gaps:
    """The horizontal tracks in the gaps between rows: edges of one origin share a track, others
    keep apart.
    """

    def __init__(self) -> None:
        """Starts with no track taken."""
        self.tracks: defaultdict[int, list[list[tuple[float, float, str]]]] = defaultdict(list)

    def track(self, gap: int, start: float, end: float, owner: str) -> Height:
        """A track in the gap above row ``gap`` that is free between two x, taken from now on."""
        span = (min(start, end) - 3, max(start, end) + 3, owner)
        tracks = self.tracks[gap]
        for index, taken in enumerate(tracks):
            if all(owner == other or span[1] <= x0 or x1 <= span[0] for x0, x1, other in taken):
                taken.append(span)
                return Height("gap", gap, index)
        tracks.append([span])
        return Height("gap", gap, len(tracks) - 1)

    def count(self, gap: int) -> int:
        """How many tracks a gap holds."""
        return len(self.tracks[gap]) if gap in self.tracks else 0


Point = tuple[float, float]


def svg_path(points: list[tuple[str, float, float]]) -> str:
    """The SVG path through (how, x, y) points; corners between straight steps are rounded."""
    parts = [f"M{number(points[0][1])} {number(points[0][2])}"]
    for index in range(1, len(points)):
        how, x, y = points[index]
        before = points[index - 1][1:]
        following = points[index + 1] if index + 1 < len(points) else None
        if how == "down" and abs(x - before[0]) > 0.5:
            parts.append(_curve(before, (x, y), upright=True))
        elif how == "across" and abs(y - before[1]) > 0.5:
            parts.append(_curve(before, (x, y), upright=False))
        elif how == "line" and following and following[0] == "line":
            parts.append(_corner(before, (x, y), following[1:]))
        else:
            parts.append(f"L{number(x)} {number(y)}")
    return "".join(parts)


def _curve(start: Point, end: Point, upright: bool) -> str:
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    first, second = (
        ((start[0], middle[1]), (end[0], middle[1]))
        if upright
        else ((middle[0], start[1]), (middle[0], end[1]))
    )
    return "C" + " ".join(number(value) for point in (first, second, end) for value in point)


def _corner(before: Point, corner: Point, following: Point) -> str:
    radius = min(ROUND, _length(before, corner) / 2, _length(corner, following) / 2)
    if radius < 1:
        return f"L{number(corner[0])} {number(corner[1])}"
    enter, leave = _towards(corner, before, radius), _towards(corner, following, radius)
    return f"L{number(enter[0])} {number(enter[1])}Q" + " ".join(map(number, (*corner, *leave)))


def _length(start: Point, end: Point) -> float:
    """The length of an upright or level line."""
    return abs(start[0] - end[0]) + abs(start[1] - end[1])


def _towards(corner: Point, other: Point, radius: float) -> Point:
    length = _length(corner, other)
    return corner[0] + (other[0] - corner[0]) / length * radius, corner[1] + (
        other[1] - corner[1]
    ) / length * radius


def number(value: float) -> str:
    """A coordinate with at most one decimal, the same on every machine."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text
