"""Writes a picture as SVG: escaped, without scripts or links, the same bytes for the same picture."""

import re
from collections.abc import Sequence
from html import escape
from typing import Final

from explorer.drawing.cards import badge_size
from explorer.drawing.picture import PAD, Box, Group, Picture, Role, Text, Wire, WireKind
from explorer.drawing.routes import number
from explorer.drawing.style import plain_sheet, sheet
from explorer.drawing.text import clean, measure
from explorer.model.errors import UsageError

PREFIX: Final = re.compile(r"([A-Za-z][\w-]*)?", re.ASCII)
BETWEEN: Final = 36.0
"""Room between two pictures that stand side by side."""

ROLES: Final[dict[Role, str]] = {
    "leaf": "input or parameter", "forward": "forward operator", "call": "module or subgraph", "call-backward": "its backward",
    "result": "output of the net",
    "seed": "seed or constant", "backward": "backward operator", "accumulate": "sum of gradients", "quiet": "only moves a value",
    "gradient": "gradient",
}  # fmt: skip
WIRES: Final[dict[WireKind, str]] = {"rung": "value kept for backward", "control": "order only"}
UNKNOWN: Final = "This stage was not run: there are no values in it."
CORNER: Final[dict[Role, float]] = {
    "accumulate": 11,
    "leaf": 4,
    "gradient": 4,
    "quiet": 9,
    "seed": 11,
}


def svg(pictures: Sequence[Picture], prefixes: Sequence[str], *, plain: bool = False) -> bytes:
    """One SVG of pictures side by side, the ids of each with a prefix of its own; ``plain`` leaves
    out variables and media.
    """
    for prefix in prefixes:
        if not PREFIX.fullmatch(prefix):
            raise UsageError(
                f"prefix {prefix!r} cannot begin an id: letters, digits, '-' and '_', a letter first"
            )
    scope = f"{prefixes[0]}gradgraph"
    legends = [_legend(picture) for picture in pictures]
    width = sum(picture.width for picture in pictures) + BETWEEN * (len(pictures) - 1)
    height = max(
        picture.height + lines for picture, (_, lines) in zip(pictures, legends, strict=True)
    )
    parts, x = [], 0.0
    for picture, prefix, (legend, _) in zip(pictures, prefixes, legends, strict=True):
        parts.append(
            f'<g transform="translate({number(x)} 0)">{_body(picture, prefix, prefixes[0])}{legend}</g>'
        )
        x += picture.width + BETWEEN
    title = escape(clean(" | ".join(picture.title for picture in pictures)))
    described = escape(clean(" ".join(picture.description for picture in pictures)))
    name = f"{prefixes[0]}gradgraph"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{scope}" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{title}</title><desc id="{name}-desc">{described}</desc>'
        f"<style>{plain_sheet(scope) if plain else sheet(scope)}</style><defs>{_tips(prefixes[0])}</defs>"
        '<rect class="paper" width="100%" height="100%"/>'
    )
    return f"{head}{''.join(parts)}</svg>\n".encode()


def _tips(prefix: str) -> str:
    return "".join(
        f'<marker id="{prefix}tip-{kind}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path class="tip-{kind}" d="M0 .8L8 4L0 7.2z"/></marker>'
        for kind in ("forward", "backward", "leaf", "gradient", "rung", "control")
    )


def _body(picture: Picture, prefix: str, first: str) -> str:
    rungs = [wire for wire in picture.wires if wire.kind == "rung"]
    others = [wire for wire in picture.wires if wire.kind != "rung"]
    return "".join(
        [
            *map(_group, picture.groups),
            *(_wire(wire, first) for wire in [*rungs, *others]),
            *map(_label, picture.groups),
            *(_node(box, prefix) for box in picture.boxes),
            *map(_text, picture.texts),
        ]
    )


def _group(group: Group) -> str:
    return (
        f'<g class="group"><rect x="{number(group.x)}" y="{number(group.y)}" width="{number(group.width)}" '
        f'height="{number(group.height)}" rx="8"/></g>'
    )


def _label(group: Group) -> str:
    return f'<text class="label" x="{number(group.x + 6)}" y="{number(group.y + 10)}">{escape(group.label)}</text>'


def _wire(wire: Wire, prefix: str) -> str:
    return (
        f'<path class="wire {wire.kind}" data-from="{escape(wire.origin)}" data-to="{escape(wire.target)}" d="{wire.path}" '
        f'marker-end="url(#{prefix}tip-{wire.kind})"/>'
    )


def _node(box: Box, prefix: str) -> str:
    card = box.card
    data = "".join(f' data-{key}="{escape(text)}"' for key, text in card.data)
    alarm = " alarm" if card.alarm else " idle" if card.idle else ""
    tooltip = escape("\n".join(card.tooltip))
    line = box.y + (15 if card.value else card.height / 2 + 4)
    parts = [
        f'<g class="node {card.role}{alarm}" id="{prefix}{escape(card.id)}"{data}><title>{tooltip}</title>'
        f'<rect class="b" x="{number(box.x)}" y="{number(box.y)}" width="{number(card.width)}" height="{number(card.height)}" '
        f'rx="{CORNER.get(card.role, 6)}"/>'
    ]
    left, right = box.x + PAD, box.x + card.width - PAD
    if card.badge:
        parts.append(
            _badge(card.badge, left - 3, box.y + (4 if card.value else card.height / 2 - 7))
        )
        left += badge_size(card.badge) + 2
    if card.shape:
        parts.append(
            f'<text class="t" x="{number(left)}" y="{number(line)}">{escape(card.title)}</text>'
        )
        parts.append(
            f'<text class="s" x="{number(right)}" y="{number(line)}" text-anchor="end">{escape(card.shape)}</text>'
        )
    else:
        middle = (left + right) / 2
        parts.append(
            f'<text class="t" x="{number(middle)}" y="{number(line)}" text-anchor="middle">{escape(card.title)}</text>'
        )
    if card.value:
        parts.append(
            f'<text class="s v" x="{number(box.x + PAD)}" y="{number(box.y + 29)}">{escape(card.value)}</text>'
        )
    return "".join(parts) + "</g>"


def _badge(badge: str, x: float, y: float) -> str:
    width = badge_size(badge)
    return (
        f'<g class="badge"><rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="14" rx="7"/>'
        f'<text x="{number(x + width / 2)}" y="{number(y + 10.2)}" text-anchor="middle">{badge}</text></g>'
    )


STYLES: Final[dict[str, tuple[str, str]]] = {
    "heading-forward": ("h forward", "middle"), "heading-backward": ("h backward", "middle"), "heading-leaf": ("h leaf", "end"),
    "heading-gradient": ("h gradient", "start"), "note": ("note", "start"), "title": ("title", "start"),
    "subtitle": ("s", "start"),
}  # fmt: skip


def _text(text: Text) -> str:
    names, anchor = STYLES[text.style]
    return f'<text class="{names}" x="{number(text.x)}" y="{number(text.y)}" text-anchor="{anchor}">{escape(text.text)}</text>'


def _legend(picture: Picture) -> tuple[str, float]:
    """The legend of what occurs in a picture, below it, and its height."""
    entries = _entries(picture)
    parts, x, y = [], 20.0, picture.height + 6
    for mark, words in entries:
        wide = 26 + measure(words, 10) + 16
        if x > 20 and x + wide > picture.width:
            x, y = 20.0, y + 17
        place = f"translate({number(x)} {number(y)})"
        parts.append(
            f'<g transform="{place}">{mark}<text class="s" x="26" y="3.5">{escape(words)}</text></g>'
        )
        x += wide
    return f'<g class="legend">{"".join(parts)}</g>', (y - picture.height + 20 if entries else 0.0)


def _entries(picture: Picture) -> list[tuple[str, str]]:
    """The mark and the words of every legend entry that a picture needs."""
    cards = [box.card for box in picture.boxes]
    roles, kinds = {card.role for card in cards}, {wire.kind for wire in picture.wires}
    entries = [
        (_swatch(role, min(CORNER.get(role, 3), 5)), words)
        for role, words in ROLES.items()
        if role in roles
    ]
    entries += [
        (f'<path class="wire {kind}" d="M0 0h20"/>', words)
        for kind, words in WIRES.items()
        if kind in kinds
    ]
    entries += (
        [(_swatch("forward alarm", 3), "value not finite")]
        if any(card.alarm for card in cards)
        else []
    )
    entries += (
        [(_swatch("forward idle", 3), "did not run for this input")]
        if any(card.idle for card in cards)
        else []
    )
    entries += (
        [("", UNKNOWN)]
        if not any(card.value for card in cards) and roles & {"forward", "backward"}
        else []
    )
    entries += (
        [(_badge("1", 3, -7), "same quantity, or a step to it, on the other side")]
        if any(card.badge for card in cards)
        else []
    )
    return entries


def _swatch(names: str, corner: float) -> str:
    return f'<g class="{names}"><rect class="b" x="0" y="-5" width="20" height="10" rx="{corner}"/></g>'
