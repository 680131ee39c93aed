"""The records between layout and file: boxes, edges, backgrounds of modules, with their places.

All lengths are in points, from the picture's top left corner.
"""

from typing import Literal

import msgspec

Point = tuple[float, float]
"""The x and y of a point."""

Size = tuple[float, float]
"""A width and a height."""

BoxRole = Literal[
    "forward",
    "backward",
    "leaf",
    "gradient",
    "result",
    "seed",
    "accumulate",
    "call",
    "call-backward",
    "quiet",
]
"""How a node's box is drawn: by what it is in the gradient's computation."""

WireKind = Literal["forward", "backward", "rung", "leaf", "gradient", "control"]
"""How an edge is drawn: by the columns that it joins, or "control" where it is an order only."""

TextStyle = Literal[
    "heading-forward",
    "heading-backward",
    "heading-leaf",
    "heading-gradient",
    "note",
    "title",
    "subtitle",
]

Turn = Literal["line", "down", "across"]
"""How a path gets to a point: straight, or by a curve that leaves and arrives upright or level."""


class Card(msgspec.Struct, frozen=True):
    """The texts of one node's box, and its size.

    ``title`` is the operator or the leaf's name, ``tooltip`` the lines of all that is known.
    ``badge`` is the number that the node shares with its pair in another picture ("" without one).
    ``moves`` names the states that the operator moves, on a line of its own ("" without one).
    ``alarm``: its value is not finite; ``refuted``: its value is not what its operator yields;
    ``idle``: it stands in a branch that did not run; ``diverges``: the first divergence from the
    other graph lies here. ``data`` are the names and values of the attributes by which programs
    find the node.
    """

    id: str
    role: BoxRole
    title: str
    shape: str
    value: str
    badge: str
    moves: str
    alarm: bool
    refuted: bool
    idle: bool
    diverges: bool
    tooltip: tuple[str, ...]
    data: tuple[tuple[str, str], ...]
    width: float
    height: float


class Box(msgspec.Struct, frozen=True):
    """A card at its place: ``x`` and ``y`` are the top left corner."""

    card: Card
    x: float
    y: float

    @property
    def right(self) -> float:
        """The x of the right side."""
        return self.x + self.card.width

    @property
    def bottom(self) -> float:
        """The y of the lower side."""
        return self.y + self.card.height


class Waypoint(msgspec.Struct, frozen=True):
    """A point of a path, and how the path gets there from the point before."""

    turn: Turn
    x: float
    y: float


class Wire(msgspec.Struct, frozen=True):
    """One edge with the ids of its ends and the points of its path."""

    origin: str
    target: str
    kind: WireKind
    path: tuple[Waypoint, ...]


class ModuleGroup(msgspec.Struct, frozen=True):
    """The rectangle behind the boxes of a module's nodes, with its label and its module path."""

    path: str
    label: str
    x: float
    y: float
    width: float
    height: float


class Text(msgspec.Struct, frozen=True):
    """A text outside the boxes: a title, a column's heading, a note."""

    x: float
    y: float
    text: str
    style: TextStyle


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A whole drawing: everything at its place, and the size.

    ``title`` and ``description`` are for those who cannot see it.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]
    groups: tuple[ModuleGroup, ...]
    texts: tuple[Text, ...]
    title: str = ""
    description: str = ""
