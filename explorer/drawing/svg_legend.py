"""The legend below a picture: the meaning of its boxes, edges and marks."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from explorer.drawing.label_text import measure
from explorer.drawing.picture import BoxRole, Card, Picture, WireKind
from explorer.drawing.style import BOX_CORNERS, MARGIN, SMALL_SIZE
from explorer.drawing.svg_elements import (
    SvgAttributes,
    badge_element,
    coordinate,
    divergence_element,
    element,
)

ROLE_WORDS: Final[dict[BoxRole, str]] = {
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
"""The meaning of a box of each role."""

WIRE_WORDS: Final[dict[WireKind, str]] = {
    "rung": "value kept for backward",
    "control": "order only",
}
"""The meaning of an edge of some kinds; the others explain themselves."""

UNKNOWN: Final = "This stage was not run: there are no values in it."

WORDS_START: Final = 26.0
"""Where the words of an entry begin, in points from the left of its mark."""

WORDS_LINE: Final = 3.5
"""The base line of the words of an entry, in points below the middle of its mark."""

BETWEEN_ENTRIES: Final = 16.0
"""Room between two entries of a line, in points."""

LINE_HEIGHT: Final = 17.0
"""The distance from one line of entries to the next, in points."""

ABOVE: Final = 6.0
BELOW: Final = 20.0
"""Room above the middle of the first line of entries and below that of the last, in points."""

SWATCH_CORNER: Final = 3.0
"""The corner radius of a swatch, unless its role has one of its own."""

ROUNDEST_SWATCH: Final = 5.0
"""The greatest corner radius of a swatch: half its height."""


class Legend(NamedTuple):
    """The markup of a legend, and its height in points."""

    markup: str
    height: float


class _Entry(NamedTuple):
    """The markup of a mark, 20 points wide, and its meaning."""

    mark: str
    words: str


def legend(picture: Picture) -> Legend:
    """The legend of a picture: the entries that it needs, in lines no wider than the picture."""
    entries = _entries(picture)
    parts = []
    x, y = MARGIN, picture.height + ABOVE
    for mark, words in entries:
        width = WORDS_START + measure(words, SMALL_SIZE) + BETWEEN_ENTRIES
        if x > MARGIN and x + width > picture.width:
            x = MARGIN
            y += LINE_HEIGHT
        place = {"transform": f"translate({coordinate(x)} {coordinate(y)})"}
        line: SvgAttributes = {"class": "s", "x": WORDS_START, "y": WORDS_LINE}
        parts.append(element("g", place, mark + element("text", line, escape(words))))
        x += width
    height = y - picture.height + BELOW if entries else 0.0
    return Legend(element("g", {"class": "legend"}, "".join(parts)), height)


def _entries(picture: Picture) -> list[_Entry]:
    """The legend entries that a picture needs."""
    return [*_role_entries(picture), *_edge_entries(picture), *_mark_entries(picture)]


def _role_entries(picture: Picture) -> Iterator[_Entry]:
    roles = {box.card.role for box in picture.boxes}
    for role, words in ROLE_WORDS.items():
        if role in roles:
            corner = min(BOX_CORNERS.get(role, SWATCH_CORNER), ROUNDEST_SWATCH)
            yield _Entry(_swatch(role, corner), words)


def _edge_entries(picture: Picture) -> Iterator[_Entry]:
    kinds = {wire.kind for wire in picture.wires}
    for kind, words in WIRE_WORDS.items():
        if kind in kinds:
            yield _Entry(element("path", {"class": f"wire {kind}", "d": "M0 0h20"}), words)


def _mark_entries(picture: Picture) -> Iterator[_Entry]:
    """The entries for marks in boxes, and the reason why there is no value in any of them."""
    cards = [box.card for box in picture.boxes]
    for mark, entry in MARK_ENTRIES.items():
        if any(getattr(card, mark) for card in cards):
            yield entry
    if _has_no_values(cards):
        yield _Entry("", UNKNOWN)
    if any(card.badge for card in cards):
        words = "same quantity, or a step to it, on the other side"
        yield _Entry(badge_element("1", 3, -7), words)


def _swatch(classes: str, corner: float = SWATCH_CORNER) -> str:
    """A small box in the colours of a role."""
    rect: SvgAttributes = {
        "class": "b",
        "x": 0.0,
        "y": -5.0,
        "width": 20.0,
        "height": 10.0,
        "rx": corner,
    }
    return element("g", {"class": classes}, element("rect", rect))


MARK_ENTRIES = {
    "alarm": _Entry(_swatch("forward alarm"), "value not finite"),
    "refuted": _Entry(_swatch("forward refuted"), "value is not what its operator yields"),
    "diverges": _Entry(
        divergence_element(11.0, 0.0), "first divergence: the first place where they part"
    ),
    "idle": _Entry(_swatch("forward idle"), "did not run for this input"),
}
"""The entry of each mark that a card may have, by the card's field, in the legend's order."""


def _has_no_values(cards: Sequence[Card]) -> bool:
    """Whether there are operators, and no box has a value."""
    if any(card.value for card in cards):
        return False
    return any(card.role in ("forward", "backward") for card in cards)
