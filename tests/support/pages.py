"""Pages of the app without a browser, as a link with a query opens them."""

from collections.abc import Callable, Mapping
from typing import Any

from streamlit.testing.v1 import AppTest

SECONDS = 240
"""The limit of one run of a page, which may have to run a scenario."""


def opened(
    page: Callable[[], None], session: Mapping[str, Any] | None = None, /, **query: str
) -> Any:
    """A page as a link with a query opens it, where the session has some values already."""
    app = AppTest.from_function(page, default_timeout=SECONDS)
    for name, value in (session or {}).items():
        app.session_state[name] = value
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def called() -> None:
    """A page that calls the function, with its arguments, which the session has under "called"."""
    import streamlit as st

    function, *arguments = st.session_state["called"]
    function(*arguments)


def shown(function: Callable[..., object], /, *arguments: object, **query: str) -> Any:
    """The page that a function of the app makes alone, where a link with a query opens it."""
    return opened(called, {"called": (function, *arguments)}, **query)


def said(page: Any) -> str:
    """All Markdown of a page in one text."""
    return " ".join(block.value for block in page.markdown)


def address(page: Any) -> dict[str, str]:
    """The query of a page; of values that are lists of one, that one."""
    # AppTest gives what was set by a test as it is, and what the page has set as lists.
    query = {}
    for name, value in dict(page.query_params).items():
        query[name] = value[0] if isinstance(value, list) else value
    return query
