"""Writes pictures as SVG: escaped, without scripts or links, the same bytes each time."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from explorer.drawing.cards import badge_width
from explorer.drawing.label_text import measure, printable
from explorer.drawing.picture import (
    Box,
    BoxRole,
    Card,
    ModuleGroup,
    Picture,
    Text,
    TextStyle,
    Wire,
    WireKind,
)
from explorer.drawing.style import (
    BADGE_HEIGHT,
    BOX_CORNER,
    BOX_CORNERS,
    GROUP_LABEL_START,
    LINE_HEIGHT,
    MARGIN,
    PAD,
    SMALL_SIZE,
    WIRE,
    adaptive_style_sheet,
    plain_style_sheet,
)
from explorer.drawing.svg_elements import (
    SvgAttributes,
    badge_element,
    coordinate,
    divergence_element,
    element,
    path_data,
)
from explorer.model.errors import UsageError
from explorer.text.language import ENGLISH, _, code, later

PREFIX: Final = re.compile(r"([A-Za-z][\w-]*)?", re.ASCII)

BETWEEN: Final = 36.0
"""Room between two pictures that stand side by side, in points."""

FIRST_OF_TWO_LINES: Final = 15.0
SECOND_LINE: Final = 29.0
"""The base lines of both texts in a box with a value, in points from its top."""

LONE_LINE: Final = 4.0
"""The base line of a box with one line, in points below its middle."""

BADGE_OF_TWO_LINES: Final = 4.0
"""The top of a badge in a box with a value, in points from the box's top."""

BADGE_OUTWARD: Final = 3.0
"""How far left of where a text would begin a badge stands, in points."""

BEHIND_BADGE: Final = 2.0
"""Room between a badge and the text behind it, in points."""

LABEL_LINE: Final = 10.0
"""The base line of a group's label, in points from the group's top."""

GROUP_CORNER: Final = 8.0

TEXT_CLASSES: Final[dict[TextStyle, tuple[str, str]]] = {
    "heading-forward": ("h forward", "middle"),
    "heading-backward": ("h backward", "middle"),
    "heading-leaf": ("h leaf", "end"),
    "heading-gradient": ("h gradient", "start"),
    "note": ("note", "start"),
    "title": ("title", "start"),
    "subtitle": ("s", "start"),
}
"""The classes and the text-anchor of a text of each style."""


def svg(pictures: Sequence[Picture], prefixes: Sequence[str], *, plain: bool = False) -> bytes:
    """One SVG of pictures side by side, the ids of each with a prefix of its own.

    ``plain`` leaves out the style sheet's variables and media queries. Raises UsageError for a
    prefix that no id can begin with.
    """
    # A prefix becomes part of ids, of a class and of selectors, none of which could be escaped.
    for prefix in prefixes:
        if not PREFIX.fullmatch(prefix):
            text = _(
                "prefix {prefix} cannot begin an id: letters, digits, '-' and '_', a letter first"
            )
            raise UsageError(text.format(prefix=repr(prefix)))
    # The style sheet and the arrow tips are shared: their ids and classes have the first prefix.
    scope = f"{prefixes[0]}gradgraph"
    parts = []
    titles, descriptions = [], []
    left = height = 0.0
    for picture, prefix in zip(pictures, prefixes, strict=True):
        titles.append(picture.title)
        descriptions.append(picture.description)
        below = legend(picture)
        content = _body(picture, prefix, prefixes[0]) + below.markup
        shift = {"transform": f"translate({coordinate(left)} 0)"}
        parts.append(element("g", shift, content))
        left += picture.width + BETWEEN
        height = max(height, picture.height + below.height)
    width = sum(picture.width for picture in pictures) + BETWEEN * (len(pictures) - 1)

    style = plain_style_sheet(scope) if plain else adaptive_style_sheet(scope)
    head = [
        element("title", {"id": f"{scope}-title"}, escape(printable(" | ".join(titles)))),
        element("desc", {"id": f"{scope}-desc"}, escape(printable(" ".join(descriptions)))),
        element("style", {}, style),
        element("defs", {}, _tips(prefixes[0])),
        element("rect", {"class": "paper", "width": "100%", "height": "100%"}),
    ]
    root: SvgAttributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": scope,
        "viewBox": f"0 0 {coordinate(width)} {coordinate(height)}",
        "width": width,
        "height": height,
        "role": "img",
        "aria-labelledby": f"{scope}-title {scope}-desc",
    }
    if code() != ENGLISH:
        # By it a browser takes the shapes of signs that Chinese and Japanese write differently.
        root = {**root, "lang": code()}
    return (element("svg", root, "".join([*head, *parts])) + "\n").encode()


def _tips(prefix: str) -> str:
    """The arrow tips, one for each kind of edge, since a tip does not inherit its edge's colour."""
    tips = []
    for kind in WIRE:
        attributes: SvgAttributes = {
            "id": f"{prefix}tip-{kind}",
            "viewBox": "0 0 8 8",
            "refX": 7.5,
            "refY": 4.0,
            "markerWidth": 7.0,
            "markerHeight": 7.0,
            "markerUnits": "userSpaceOnUse",  # a tip does not grow with the width of its edge
            "orient": "auto",
        }
        triangle = element("path", {"class": f"tip-{kind}", "d": "M0 .8L8 4L0 7.2z"})
        tips.append(element("marker", attributes, triangle))
    return "".join(tips)


def _body(picture: Picture, prefix: str, first_prefix: str) -> str:
    """The elements of a picture, the lowest first."""
    # Rungs lie below the other edges, and boxes above all edges.
    wires = sorted(picture.wires, key=lambda wire: wire.kind != "rung")
    parts = [
        *map(_group, picture.groups),
        *(_wire(wire, first_prefix) for wire in wires),
        *map(_group_label, picture.groups),
        *(_node(box, prefix) for box in picture.boxes),
        *map(_text, picture.texts),
    ]
    return "".join(parts)


def _group(group: ModuleGroup) -> str:
    rect = {"x": group.x, "y": group.y, "width": group.width, "height": group.height}
    rect["rx"] = GROUP_CORNER
    attributes = {"class": "group", "data-module": group.path}
    return element("g", attributes, element("rect", rect))


def _group_label(group: ModuleGroup) -> str:
    x, y = group.x + GROUP_LABEL_START, group.y + LABEL_LINE
    return element("text", {"class": "label", "x": x, "y": y}, escape(group.label))


def _wire(wire: Wire, prefix: str) -> str:
    attributes = {
        "class": f"wire {wire.kind}",
        "data-from": wire.origin,
        "data-to": wire.target,
        "d": path_data(wire.path),
        "marker-end": f"url(#{prefix}tip-{wire.kind})",
    }
    return element("path", attributes)


def _node(box: Box, prefix: str) -> str:
    card = box.card
    attributes = {"class": _node_classes(card), "id": f"{prefix}{card.id}"}
    attributes.update({f"data-{name}": value for name, value in card.data})
    rect: SvgAttributes = {
        "class": "b",
        "x": box.x,
        "y": box.y,
        "width": card.width,
        "height": card.height,
        "rx": BOX_CORNERS.get(card.role, BOX_CORNER),
    }
    tooltip = escape("\n".join(card.tooltip))
    parts = [element("title", {}, tooltip), element("rect", rect), *_node_texts(box)]
    if card.diverges:
        parts.append(divergence_element(box.right, box.y))
    return element("g", attributes, "".join(parts))


def _node_classes(card: Card) -> str:
    classes = ["node", card.role]
    if card.alarm:
        classes.append("alarm")
    if card.refuted:
        classes.append("refuted")
    if card.diverges:
        classes.append("diverges")
    if card.idle and not card.alarm:
        classes.append("idle")
    return " ".join(classes)


def _node_texts(box: Box) -> list[str]:
    """The texts of a box: its badge, its title with the shape, and its value below."""
    card = box.card
    middle = card.height / 2
    has_lines_below = bool(card.value or card.moves)
    first_line, badge_top = middle + LONE_LINE, middle - BADGE_HEIGHT / 2
    if has_lines_below:
        first_line, badge_top = FIRST_OF_TWO_LINES, BADGE_OF_TWO_LINES
    left, right = box.x + PAD, box.right - PAD
    parts = []
    if card.badge:
        parts.append(badge_element(card.badge, left - BADGE_OUTWARD, box.y + badge_top))
        left += badge_width(card.badge) + BEHIND_BADGE
    if card.shape:
        parts.append(_line("t", left, box.y + first_line, card.title))
        parts.append(_line("s", right, box.y + first_line, card.shape, anchor="end"))
    else:
        centre = (left + right) / 2
        parts.append(_line("t", centre, box.y + first_line, card.title, anchor="middle"))
    y = box.y + SECOND_LINE
    for classes, line in (("s v", card.value), ("s", card.moves)):
        if line:
            parts.append(_line(classes, box.x + PAD, y, line))
            y += LINE_HEIGHT
    return parts


def _text(text: Text) -> str:
    classes, anchor = TEXT_CLASSES[text.style]
    return _line(classes, text.x, text.y, text.text, anchor)


def _line(classes: str, x: float, y: float, text: str, anchor: str = "") -> str:
    """A line of text on the base line ``y``; ``anchor`` is its text-anchor, "" for the start."""
    attributes: dict[str, str | float] = {"class": classes, "x": x, "y": y}
    if anchor:
        attributes["text-anchor"] = anchor
    return element("text", attributes, escape(text))


# The legend


ROLE_WORDS: Final[dict[BoxRole, str]] = {
    "leaf": later("input or parameter"),
    "forward": later("forward operator"),
    "call": later("module or subgraph"),
    "call-backward": later("its backward"),
    "result": later("output of the net"),
    "seed": later("seed or constant"),
    "backward": later("backward operator"),
    "accumulate": later("sum of gradients"),
    "quiet": later("only moves a value"),
    "gradient": later("gradient"),
}
"""The meaning of a box of each role."""

WIRE_WORDS: Final[dict[WireKind, str]] = {
    "rung": later("value kept for backward"),
    "control": later("order only"),
}
"""The meaning of an edge of some kinds; the others explain themselves."""

UNKNOWN: Final = later("This stage has no values.")

WORDS_START: Final = 26.0
"""Where the words of an entry begin, in points from the left of its mark."""

WORDS_LINE: Final = 3.5
"""The base line of the words of an entry, in points below the middle of its mark."""

BETWEEN_ENTRIES: Final = 16.0
"""Room between two entries of a line, in points."""

LEGEND_LINE_HEIGHT: Final = 17.0
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
    for mark, text in entries:
        words = _(text)
        width = WORDS_START + measure(words, SMALL_SIZE) + BETWEEN_ENTRIES
        if x > MARGIN and x + width > picture.width:
            x = MARGIN
            y += LEGEND_LINE_HEIGHT
        place = {"transform": f"translate({coordinate(x)} {coordinate(y)})"}
        line: SvgAttributes = {"class": "s", "x": WORDS_START, "y": WORDS_LINE}
        parts.append(element("g", place, mark + element("text", line, escape(words))))
        x += width
    height = 0.0
    if entries:
        height = y - picture.height + BELOW
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
        if _is_in_any(cards, mark):
            yield entry
    if _has_no_values(cards):
        yield _Entry("", UNKNOWN)
    if _is_in_any(cards, "badge"):
        words = later("same quantity, or a step to it, on the other side")
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
    "alarm": _Entry(_swatch("forward alarm"), later("value not finite")),
    "refuted": _Entry(_swatch("forward refuted"), later("value is not what its operator yields")),
    "diverges": _Entry(
        divergence_element(11.0, 0.0), later("first divergence: the first place where they part")
    ),
    "idle": _Entry(_swatch("forward idle"), later("did not run for this input")),
}
"""The entry of each mark that a card may have, by the card's field, in the legend's order."""


def _is_in_any(cards: Sequence[Card], field: str) -> bool:
    return any(getattr(card, field) for card in cards)


def _has_no_values(cards: Sequence[Card]) -> bool:
    """Whether there are operators, and no box has a value."""
    roles = {card.role for card in cards}
    return not (_is_in_any(cards, "value") or roles.isdisjoint(("forward", "backward")))
