"""The app's component of cards, each a link to a page, as many beside each other as fit.

Its behaviour in the browser is in card_grid.js. One component for all cards: of Streamlit's own
elements a card takes three, and a browser takes milliseconds for each.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import streamlit as st

HERE = Path(__file__).resolve().parent


class Badge(msgspec.Struct, frozen=True):
    """A short text on a colour, after a mark that says the same without the colour."""

    text: str
    colour: str
    mark: str


class Card(msgspec.Struct, frozen=True):
    """One card: its heading, which is the link, and what stands below it, all of it text.

    ``name`` tells it from the others, ``href`` is relative to the app's address, and ``picture`` is
    the address of an image that ``label`` names for those who cannot see it.
    """

    name: str
    heading: str
    href: str
    title: str
    point: str = ""
    picture: str = ""
    label: str = ""
    badge: Badge | None = None
    note: str = ""


@cache
def _component() -> Any:
    html, css, javascript = (
        (HERE / f"card_grid.{part}").read_text(encoding="utf-8") for part in ("html", "css", "js")
    )
    return st.components.v2.component("explorer.card_grid", html=html, css=css, js=javascript)


def card_grid(cards: Sequence[Card], *, key: str) -> str | None:
    """Mount the component; gives the name of a card that was just clicked."""
    data = {"cards": msgspec.to_builtins(cards)}
    result = _component()(data=data, key=key, on_opened_change=lambda: None)
    # What comes from a browser can be anything: only what there is may be opened.
    names = {card.name for card in cards}
    return result.opened if result.opened in names else None
