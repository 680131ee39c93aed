"""The app's component of two graphs: what is chosen in it, and how the address says that."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
import streamlit as st

from explorer.pair.component import code, markup, style
from explorer.pair.details import SourceLines

ADAPTER = Path(__file__).resolve().parent / "pair_view.js"
"""What joins the component to this app."""

Only = Literal["", "differs", "unpaired", "new"]


class ViewState(msgspec.Struct, frozen=True):
    """What is chosen in the two graphs.

    ``node`` is a side and an id ("left:n5"), ``step`` of the execution is None where all has run,
    ``only`` the filter; ``follow`` says whether the panes follow each other, ``opened`` and
    ``folded`` name modules. A state of a higher ``revision`` replaces what the browser has; ``has``
    is the digest of the record that the browser shows.
    """

    revision: int = 0
    node: str = ""
    step: int | None = None
    only: Only = ""
    follow: bool = True
    opened: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    has: str = ""


@cache
def _component() -> Any:
    adapter = ADAPTER.read_text(encoding="utf-8")
    return st.components.v2.component(
        "explorer.pair_view", html=markup(), css=style(), js=f"{code()}\n{adapter}"
    )


def pair_view(
    record: bytes, sources: Mapping[str, SourceLines], state: ViewState, *, key: str
) -> ViewState:
    """Mount the component on a record in JSON and its sources; gives what is chosen in it now."""
    body = msgspec.json.encode({"pair": msgspec.Raw(record), "sources": sources})
    digest = hashlib.sha256(body).hexdigest()
    known = _chosen(st.session_state.get(key, {}).get("view"), state).has
    head = msgspec.json.encode({"state": state, "key": digest})
    # As bytes: Streamlit encodes and hashes anything else twice at every run. And what the browser
    # has already is not sent again at every click: a large net's record has megabytes.
    data = head + b"\n" + (b"" if known == digest else body)
    result = _component()(data=data, key=key, on_view_change=lambda: None)
    return _chosen(result.view, state)


def _chosen(view: Any, state: ViewState) -> ViewState:
    """What the browser says; ``state`` where it says nothing of use, or what is older than that."""
    try:
        chosen = msgspec.convert(dict(view or {}), ViewState)
    except (msgspec.ValidationError, TypeError, ValueError):
        return state  # what comes from a browser can be anything
    if view and chosen.revision == state.revision:
        return chosen
    return state


# The address

IN_VIEW = ("node", "step", "only", "follow", "opened", "folded")
"""Names in the address whose values are chosen in the drawings."""

FILTERS: tuple[Only, ...] = ("differs", "unpaired", "new")

MOST_MODULES = 200
"""Modules that an address may open or fold."""


def state_of(wanted: Mapping[str, str], revision: int, modules: Iterable[str]) -> ViewState:
    """The state that an address asks for; what it cannot mean is left out.

    ``modules`` are those that there are.
    """
    known = frozenset(modules)
    step = wanted.get("step", "")
    only = wanted.get("only", "")
    return ViewState(
        revision=revision,
        node=wanted.get("node", ""),
        step=int(step) if step.isdecimal() and len(step) < 8 else None,
        only=next((name for name in FILTERS if name == only), ""),
        follow=wanted.get("follow") != "off",
        opened=_modules(wanted.get("opened", ""), known),
        folded=_modules(wanted.get("folded", ""), known),
    )


def address_of(state: ViewState) -> dict[str, str]:
    """A state as an address; what is empty is as a page opens."""
    return {
        "node": state.node,
        "step": "" if state.step is None else str(state.step),
        "only": state.only,
        "follow": "" if state.follow else "off",
        "opened": ",".join(state.opened),
        "folded": ",".join(state.folded),
    }


def _modules(text: str, known: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(known.intersection(text.split(","))))[:MOST_MODULES]
