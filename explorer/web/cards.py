"""The cards and drawings of the first page: from the store, else as recorded."""

import base64
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import streamlit as st

from explorer.model.errors import ExplorerError
from explorer.report.recorded.results import recorded_card, recorded_introduction
from explorer.report.scenario.card import (
    INTRODUCTION,
    ScenarioCard,
    card,
    pair_of_ladders,
    point,
    stored_card,
    stored_pair,
)
from explorer.scenario.declaration import Declaration
from explorer.store.store import Store
from explorer.text.clean import clean
from explorer.text.language import LANGUAGES, code, said_in
from explorer.web.offered_scenarios import digest_of_file, offered, scenario
from explorer.words.scenarios import said

# The component of cards


HERE = Path(__file__).resolve().parent


class Badge(msgspec.Struct, frozen=True):
    """A short text on a colour, after a mark that says the same without the colour."""

    text: str
    colour: str
    mark: str


class Card(msgspec.Struct, frozen=True):
    """One card: its heading, which is the link, and the texts below it.

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


# Scenarios as cards


SECONDS = 20
"""How long a page shows what was there before it looks again."""


class AboutScenario(NamedTuple):
    """A scenario's title, its point in a line, and its card; ``is_own`` is False for a recorded one.

    ``searched`` is what a search looks at: the title and the point in every language.
    """

    title: str
    line: str
    searched: str
    card: ScenarioCard | None
    is_own: bool


class Introduction(NamedTuple):
    """The drawing that introduces the app, as SVG; "" where there is none."""

    svg: str
    is_own: bool


def scenario_card(path: Path) -> AboutScenario:
    """What a list says of a scenario; of a file that cannot be read, what is wrong with it."""
    return _scenario_card(str(path), digest_of_file(path), code())


@st.cache_data(ttl=SECONDS, show_spinner=False)
def _scenario_card(path: str, digest: str, language: str) -> AboutScenario:
    try:
        about = scenario(Path(path))
    except ExplorerError as error:
        message = clean(str(error))
        return AboutScenario(message, "", message, None, is_own=False)
    own = stored_card(about, Store())
    with said_in(language):
        title, line = said(about.title), point(about)
    return AboutScenario(
        title, line, _searched(about), own or recorded_card(about), is_own=own is not None
    )


def _searched(about: Declaration) -> str:
    texts = []
    for language in LANGUAGES:
        with said_in(language):
            texts += [said(about.title), point(about)]
    return " ".join(texts)


def picture(svg: str, label: str) -> str:
    """An SVG of our own as an image in HTML; ``label`` names it for those who cannot see it."""
    return f'<img alt="{escape(label)}" src="{image_source(svg)}">'


def image_source(svg: str) -> str:
    """The address of an image that holds an SVG of our own."""
    # As an image, nothing in it can be run, and its ids and styles stay its own.
    data = base64.b64encode(svg.encode()).decode()
    return f"data:image/svg+xml;base64,{data}"


def in_theme(svg: str) -> str:
    """A drawing in the colours of the page: in an image it would have those that the browser prefers."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    return svg.replace(' class="', f' class="{theme} ', 1)


def introduction() -> Introduction:
    """The drawing of the scenario that introduces the app, in the reader's language."""
    return _introduction(code())


@st.cache_data(ttl=SECONDS, show_spinner=False)
def _introduction(language: str) -> Introduction:
    path = offered().get(INTRODUCTION)
    try:
        about = scenario(path) if path else None
    except ExplorerError:
        about = None
    if about is None:
        return Introduction("", is_own=False)
    with said_in(language):
        own = stored_pair(about, Store())
        return Introduction(own or recorded_introduction(about), is_own=bool(own))


def draw_missing() -> None:
    """Begin to draw what lacks of all that is stored; a page shows it when it looks again."""
    # What was run in a shell, or before a change of the drawings, has a report and no card.
    key = tuple((str(path), digest_of_file(path)) for path in offered().values())
    _draw_all(key)


@st.cache_resource(ttl=60 * SECONDS, max_entries=1, show_spinner=False)
def _draw_all(_key: tuple[tuple[str, str], ...]) -> threading.Thread:
    thread = threading.Thread(target=_draw, args=(list(offered().items()),), daemon=True)
    thread.start()
    return thread


def _draw(scenarios: list[tuple[str, Path]]) -> None:
    for name, path in scenarios:
        # What is wrong with a file, its card says.
        with suppress(ExplorerError):
            about = scenario(path)
            card(about, Store())
            if name == INTRODUCTION:
                _draw_introduction(about)


def _draw_introduction(about: Declaration) -> None:
    for language in LANGUAGES:
        with said_in(language):
            pair_of_ladders(about, Store())
