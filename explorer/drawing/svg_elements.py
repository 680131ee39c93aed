"""The parts of an SVG: elements, coordinates, the data of paths, badges."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final, TypeAlias

from explorer.drawing.cards import badge_width
from explorer.drawing.picture import Point, Waypoint
from explorer.drawing.style import BADGE_HEIGHT

CORNER_RADIUS: Final = 6.0
"""The radius of a corner between two straight pieces of a path that are long enough."""

LEAST_RADIUS: Final = 1.0
"""A corner of a smaller radius than this is drawn sharp."""

STRAIGHT: Final = 0.5
"""A curve that would lead no further aside than this is drawn as a straight line."""

BADGE_BASE_LINE: Final = 10.2
"""The base line of the digits of a badge, in points from its top."""

DIVERGENCE_RADIUS: Final = 9.0
"""The radius of the disc that marks the first divergence, in points."""

SvgAttributes: TypeAlias = Mapping[str, str | float]
"""The attributes of an element in the order in which they are written."""


def coordinate(value: float) -> str:
    """A length in points with at most one decimal, the same on every machine."""
    # A tenth of a point is not seen, and further digits would differ between machines.
    return f"{value:.1f}".removesuffix(".0")


def element(tag: str, attributes: SvgAttributes, content: str | None = None) -> str:
    """An element: lengths are rounded and texts escaped in its attributes.

    ``content`` is markup already; without it the element closes itself.
    """
    parts = [f"<{tag}"]
    for name, value in attributes.items():
        text = escape(value) if isinstance(value, str) else coordinate(value)
        parts.append(f' {name}="{text}"')
    parts.append("/>" if content is None else f">{content}</{tag}>")
    return "".join(parts)


def badge_element(badge: str, x: float, y: float) -> str:
    """The pill with a pair number whose top left corner is at ``x`` and ``y``."""
    width = badge_width(badge)
    half = BADGE_HEIGHT / 2
    pill: SvgAttributes = {"x": x, "y": y, "width": width, "height": BADGE_HEIGHT, "rx": half}
    digits: SvgAttributes = {"x": x + width / 2, "y": y + BADGE_BASE_LINE, "text-anchor": "middle"}
    content = element("rect", pill) + element("text", digits, escape(badge))
    return element("g", {"class": "badge"}, content)


def divergence_element(x: float, y: float) -> str:
    """The sign "≠" in a disc whose centre is at ``x`` and ``y``."""
    # Drawn, not written: few fonts have the sign, and it must not be lost where one has not.
    disc: SvgAttributes = {"cx": x, "cy": y, "r": DIVERGENCE_RADIUS}
    left, right = coordinate(x - 4), coordinate(x + 4)
    bars = f"M{left} {coordinate(y - 2)}H{right}M{left} {coordinate(y + 2)}H{right}"
    slash = f"M{coordinate(x - 2.5)} {coordinate(y + 5)}L{coordinate(x + 2.5)} {coordinate(y - 5)}"
    content = element("circle", disc) + element("path", {"d": bars + slash})
    return element("g", {"class": "unequal"}, content)


def path_data(points: Sequence[Waypoint]) -> str:
    """The ``d`` of an SVG path through the points; corners between straight pieces are rounded."""
    parts = [f"M{_pair(_point(points[0]))}"]
    for index in range(1, len(points)):
        before, here = _point(points[index - 1]), points[index]
        # There is a corner only between two straight pieces; a curve turns by itself.
        turns_next = index + 1 < len(points) and points[index + 1].turn == "line"
        if here.turn == "down" and abs(here.x - before[0]) > STRAIGHT:
            middle = (before[1] + here.y) / 2
            parts.append(_curve((before[0], middle), (here.x, middle), _point(here)))
        elif here.turn == "across" and abs(here.y - before[1]) > STRAIGHT:
            middle = (before[0] + here.x) / 2
            parts.append(_curve((middle, before[1]), (middle, here.y), _point(here)))
        elif here.turn == "line" and turns_next:
            parts.append(_corner(before, _point(here), _point(points[index + 1])))
        else:
            parts.append(f"L{_pair(_point(here))}")
    return "".join(parts)


def _point(waypoint: Waypoint) -> Point:
    return waypoint.x, waypoint.y


def _pair(point: Point) -> str:
    return f"{coordinate(point[0])} {coordinate(point[1])}"


def _curve(leaving: Point, arriving: Point, end: Point) -> str:
    """A cubic Bézier curve to ``end``, with the control points ``leaving`` and ``arriving``."""
    return f"C{_pair(leaving)} {_pair(arriving)} {_pair(end)}"


def _corner(before: Point, corner: Point, following: Point) -> str:
    """A straight piece and the rounded corner behind it."""
    # Two corners share the piece between them, so neither may take more than half of it.
    shorter = min(_length(before, corner), _length(corner, following))
    radius = min(CORNER_RADIUS, shorter / 2)
    if radius < LEAST_RADIUS:
        return f"L{_pair(corner)}"
    enter, leave = _towards(corner, before, radius), _towards(corner, following, radius)
    return f"L{_pair(enter)}Q{_pair(corner)} {_pair(leave)}"


def _length(start: Point, end: Point) -> float:
    """The length of a straight piece; all are upright or level."""
    return abs(start[0] - end[0]) + abs(start[1] - end[1])


def _towards(corner: Point, other: Point, distance: float) -> Point:
    """The point at a distance from a corner, on the straight piece to another point."""
    length = _length(corner, other)
    x = corner[0] + (other[0] - corner[0]) / length * distance
    y = corner[1] + (other[1] - corner[1]) / length * distance
    return x, y
