"""The records between layout and file: boxes, wires and groups with their places, in points from
the top left.
"""

from typing import Literal

import msgspec

Role = Literal[
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
WireKind = Literal["forward", "backward", "rung", "leaf", "gradient", "control"]

TITLE_SIZE = 12.0
SMALL_SIZE = 10.0
PAD = 8.0


class Card(msgspec.Struct, frozen=True):
    """What one node's box says and how large it is: an operator, its shape, its value, and a
    tooltip of all that is known.

    ``badge`` is the number that the node shares with its pair in another picture ("" without one).
    ``alarm``: its value is not finite; ``idle``: it stands in a branch that did not run.
    """

    id: str
    role: Role
    title: str
    shape: str
    value: str
    badge: str
    alarm: bool
    idle: bool
    tooltip: tuple[str, ...]
    data: tuple[tuple[str, str], ...]
    width: float
    height: float


class Box(msgspec.Struct, frozen=True):
    """A card at its place: ``x`` and ``y`` are the top left corner."""

    card: Card
    x: float
    y: float


class Wire(msgspec.Struct, frozen=True):
    """One edge as an SVG path, with the ids of its ends."""

    origin: str
    target: str
    kind: WireKind
    path: str


class Group(msgspec.Struct, frozen=True):
    """The soft background of a module's nodes."""

    label: str
    x: float
    y: float
    width: float
    height: float


class Text(msgspec.Struct, frozen=True):
    """A free-standing word: a lane's heading, a note."""

    x: float
    y: float
    text: str
    style: Literal[
        "heading-forward",
        "heading-backward",
        "heading-leaf",
        "heading-gradient",
        "note",
        "title",
        "subtitle",
    ]


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A whole drawing: what is where, its size, and the sentences that describe it to those who
    cannot see it.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]
    groups: tuple[Group, ...]
    texts: tuple[Text, ...]
    title: str
    description: str
