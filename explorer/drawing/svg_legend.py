"""The legend below a picture: what the boxes, the edges and the marks in it mean."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from explorer.drawing.picture import Card, Picture, Role, WireKind
from explorer.drawing.style import BOX_CORNERS, MARGIN, SMALL_SIZE
from explorer.drawing.svg_elements import Attributes, badge_element, coordinate, element
from explorer.drawing.text import measure

ROLES: Final[dict[Role, str]] = {
    "leaf": "input or parameter",
    "forward": "forward operator",
    "call": "module or subgraph",
    "call-backward": "its backward",
    "result": "output of the net",
    "seed": "seed or constant",
    "backward": "backward operator",
    "accumulate": "sum of gradients",
    "quiet": "only moves a value",
    "gradient": "gradient",
}
"""What a box of each role is."""

WIRES: Final[dict[WireKind, str]] = {
    "rung": "value kept for backward",
    "control": "order only",
}
"""What an edge of some kinds is; the others explain themselves."""

UNKNOWN: Final = "This stage was not run: there are no values in it."

WORDS_START: Final = 26.0
WORDS_LINE: Final = 3.5
"""Where the words of an entry begin, and their base line, in points from the middle of its mark."""

BETWEEN_ENTRIES: Final = 16.0
LINE_HEIGHT: Final = 17.0
ABOVE: Final = 6.0
BELOW: Final = 20.0
"""Room between the entries of a line, from one line to the next, and above and below the legend's
lines, in points.
"""

SWATCH_CORNER: Final = 3.0
ROUNDEST_SWATCH: Final = 5.0
"""How round the corners of a swatch are, and how round they are at most."""


class Legend(NamedTuple):
    """The markup of a legend, and its height in points."""

    markup: str
    height: float


class _Entry(NamedTuple):
    """The markup of a mark, 20 points wide, and what it means."""

    mark: str
    words: str


def legend(picture: Picture) -> Legend:
    """The legend of what occurs in a picture, in lines that are no wider than it."""
    entries = _entries(picture)
    parts = []
    x, y = MARGIN, picture.height + ABOVE
    for mark, words in entries:
        width = WORDS_START + measure(words, SMALL_SIZE) + BETWEEN_ENTRIES
        if x > MARGIN and x + width > picture.width:
            x = MARGIN
            y += LINE_HEIGHT
        place = {"transform": f"translate({coordinate(x)} {coordinate(y)})"}
        line: Attributes = {"class": "s", "x": WORDS_START, "y": WORDS_LINE}
        parts.append(element("g", place, mark + element("text", line, escape(words))))
        x += width
    height = y - picture.height + BELOW if entries else 0.0
    return Legend(element("g", {"class": "legend"}, "".join(parts)), height)


def _entries(picture: Picture) -> list[_Entry]:
    """The legend entries that a picture needs."""
    return [*_role_entries(picture), *_edge_entries(picture), *_mark_entries(picture)]


def _role_entries(picture: Picture) -> Iterator[_Entry]:
    roles = {box.card.role for box in picture.boxes}
    for role, words in ROLES.items():
        if role in roles:
            corner = min(BOX_CORNERS.get(role, SWATCH_CORNER), ROUNDEST_SWATCH)
            yield _Entry(_swatch(role, corner), words)


def _edge_entries(picture: Picture) -> Iterator[_Entry]:
    kinds = {wire.kind for wire in picture.wires}
    for kind, words in WIRES.items():
        if kind in kinds:
            yield _Entry(element("path", {"class": f"wire {kind}", "d": "M0 0h20"}), words)


def _mark_entries(picture: Picture) -> Iterator[_Entry]:
    """What marks in boxes mean, or why there is no value in any of them."""
    cards = [box.card for box in picture.boxes]
    if any(card.alarm for card in cards):
        yield _Entry(_swatch("forward alarm"), "value not finite")
    if any(card.idle for card in cards):
        yield _Entry(_swatch("forward idle"), "did not run for this input")
    if _has_no_values(cards):
        yield _Entry("", UNKNOWN)
    if any(card.badge for card in cards):
        words = "same quantity, or a step to it, on the other side"
        yield _Entry(badge_element("1", 3, -7), words)


def _has_no_values(cards: Sequence[Card]) -> bool:
    """Whether there are operators, and none has a value in its box."""
    roles = {card.role for card in cards}
    return bool(roles & {"forward", "backward"}) and not any(card.value for card in cards)


def _swatch(classes: str, corner: float = SWATCH_CORNER) -> str:
    """A small box in the colours of a role."""
    rect: Attributes = {
        "class": "b",
        "x": 0.0,
        "y": -5.0,
        "width": 20.0,
        "height": 10.0,
        "rx": corner,
    }
    return element("g", {"class": classes}, element("rect", rect))
