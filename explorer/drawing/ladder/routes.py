"""The routes of edges before rows have a y: heights are given by boxes, rows and tracks."""

from collections import defaultdict
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from explorer.drawing.picture import Card, Turn, WireKind

TRACK_END: Final = 3.0
"""How far the pieces of two edges on one track stay apart, on each side, in points."""


class BesideNode(msgspec.Struct, frozen=True):
    """The height that is ``offset`` points below the middle of a node's box."""

    node: str
    offset: float = 0.0


class RowEdge(msgspec.Struct, frozen=True):
    """Just outside the upper or the lower edge of a row."""

    row: int
    edge: Literal["top", "bottom"]


class OnTrack(msgspec.Struct, frozen=True):
    """One of the horizontal tracks in the gap above row ``gap``, counted from the top."""

    gap: int
    track: int


Height: TypeAlias = BesideNode | RowEdge | OnTrack
"""A height that gets its y once the rows have theirs."""


class Step(msgspec.Struct, frozen=True):
    """One step of a route: how it turns, and the point where it ends."""

    turn: Turn
    x: float
    height: Height


class Route(msgspec.Struct, frozen=True):
    """The path of one edge: it starts at the end of the first step and follows the others."""

    origin: str
    target: str
    kind: WireKind
    steps: tuple[Step, ...]


def line(x: float, height: Height) -> Step:
    """A straight step."""
    return Step("line", x, height)


def down(x: float, height: Height) -> Step:
    """A curve that leaves and arrives upright."""
    return Step("down", x, height)


def across(x: float, height: Height) -> Step:
    """A curve that leaves and arrives level."""
    return Step("across", x, height)


def top_of(card: Card) -> BesideNode:
    """The upper side of a node's box."""
    return BesideNode(card.id, -card.height / 2)


def bottom_of(card: Card) -> BesideNode:
    """The lower side of a node's box."""
    return BesideNode(card.id, card.height / 2)


class _Piece(NamedTuple):
    """The part of a track that an edge covers, and the edge's origin."""

    left: float
    right: float
    origin: str


class Tracks:
    """The horizontal tracks in the gaps between rows.

    Edges of one origin may share a track; others on it keep apart.
    """

    def __init__(self) -> None:
        self._pieces: defaultdict[int, list[list[_Piece]]] = defaultdict(list)

    def take(self, gap: int, start: float, end: float, origin: str) -> OnTrack:
        """A track in the gap above row ``gap`` that is free between two x, taken from now on."""
        piece = _Piece(min(start, end) - TRACK_END, max(start, end) + TRACK_END, origin)
        tracks = self._pieces[gap]
        for index, taken in enumerate(tracks):
            if all(_may_share(piece, other) for other in taken):
                taken.append(piece)
                return OnTrack(gap, index)
        tracks.append([piece])
        return OnTrack(gap, len(tracks) - 1)

    def count(self, gap: int) -> int:
        """How many tracks the gap above row ``gap`` holds."""
        return len(self._pieces.get(gap, ()))


def _may_share(piece: _Piece, other: _Piece) -> bool:
    if piece.origin == other.origin:
        return True
    return piece.right <= other.left or other.right <= piece.left
