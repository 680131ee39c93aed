"""What a page shows is in its address: a link shows the same, and the browser's way back works."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import streamlit as st
from streamlit.navigation.page import StreamlitPage

IN_SIGHT = "page in sight"
SEEN = "address of "
SHOWN = "shown on "
PAGE = "page at "
CHOICE = "scenario"
"""The place under which the pages of one scenario keep which one it is, with its device and order."""

START = "what a table begins with on "


class Start(NamedTuple):
    """What a table begins with, and how often the address has changed that."""

    number: int
    choice: str


def turn_to(page: str) -> None:
    """Say which page is in sight; called at every run, before anything on it is shown."""
    if st.session_state.get(IN_SIGHT) != page:
        # The address of a page that is opened in the app is empty. That is no wish for what pages
        # open with: it shows again what it showed last.
        for key in list(st.session_state):
            if str(key).startswith(SEEN):
                del st.session_state[key]
    st.session_state[IN_SIGHT] = page


def follow(page: str, names: Iterable[str]) -> dict[str, str]:
    """What the address asks of ``names`` where it has changed, or else what ``page`` showed last.

    Of a widget whose key is a name, and whose value the address now changes by a link or by the
    browser's way back, the state is forgotten: it is to start from the address. Several places of
    one page may each follow names of their own.
    """
    query = st.query_params.to_dict()
    seen: dict[str, str] = st.session_state.get(SEEN + page, {})
    wanted: dict[str, str] = dict(st.session_state.get(SHOWN + page, {}))
    now: dict[str, str] = {}
    for name in names:
        asked = query.get(name)
        if asked is not None:
            now[name] = asked
        # An unchanged name does not overrule what a visitor has chosen since.
        if asked != seen.get(name):
            wanted.pop(name, None)
            if asked is not None:
                wanted[name] = asked
            st.session_state.pop(name, None)
    st.session_state[SEEN + page] = now
    return wanted


def remember(page: str, shown: Mapping[str, str]) -> None:
    """Put what ``page`` shows into the address; what is empty stands for what a page opens with.

    Names that are not among ``shown``, nor were the last time, stay in the address as they are.
    """
    before: dict[str, str] = st.session_state.get(SHOWN + page, {})
    given = {name: value for name, value in shown.items() if value}
    st.session_state[SHOWN + page] = given
    st.session_state[SEEN + page] = given
    query = st.query_params.to_dict()
    others = {name: query[name] for name in query if name not in before and name not in shown}
    address = {**others, **given}
    if query != address:
        st.query_params.from_dict(address)


def last_shown(page: str) -> dict[str, str]:
    """What a page showed last, as its address says it: for a link to that page."""
    return dict(st.session_state.get(SHOWN + page, {}))


def table_start(
    page: str, before: Mapping[str, str], wanted: Mapping[str, str], name: str
) -> Start:
    """What a page's table begins with: what the address asks for anew under ``name``, else as before.

    A visitor's own choice in the table is no news. ``before`` is what was shown last.
    """
    key = START + page
    start: Start = st.session_state.get(key, Start(-1, ""))
    if start.number < 0 or wanted.get(name) != before.get(name):
        # The number is part of the table's key: under an old key it would keep the old choice.
        start = Start(start.number + 1, wanted.get(name, ""))
        st.session_state[key] = start
    return start


def unless(value: str, default: str) -> str:
    """A value for an address, in which what a page opens with is left out."""
    return value if value != default else ""


def place_of(name: str, options: Sequence[str]) -> int:
    """The place of a name among options, where a box begins; 0 for one that is not there."""
    return options.index(name) if name in options else 0


def offer(page: StreamlitPage) -> None:
    """Keep a page, so that others can link to it by the last part of its address."""
    st.session_state[PAGE + page.url_path] = page


def page_called(name: str) -> StreamlitPage | None:
    """The page with this last part of its address, where the app offers it."""
    page: StreamlitPage | None = st.session_state.get(PAGE + name)
    return page
