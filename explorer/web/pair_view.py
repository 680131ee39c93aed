"""The app's component of two drawings, in which a node is marked and chosen with its pair.

Its behaviour in the browser is in pair_view.js.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import streamlit as st

from explorer.model.alignment import Alignment, SideName

HERE = Path(__file__).resolve().parent

Links = Mapping[SideName, Mapping[str, list[str]]]
"""For each side, and each of its nodes that is in a pair, the ids to mark on the other side."""


class Pane(msgspec.Struct, frozen=True):
    """One drawing: its caption, its SVG, and what its nodes' ids begin with.

    The two of a page need different prefixes, so that ids stay unique on it.
    """

    caption: str
    svg: str
    prefix: str

    def data(self) -> dict[str, str]:
        """As the browser gets it; it replaces the drawing only when ``key`` changes."""
        # Of the drawing alone: a new caption, or new pairs, leave place and scale as they are.
        key = hashlib.sha256(self.svg.encode()).hexdigest()
        return {**msgspec.structs.asdict(self), "key": key}


@cache
def _component() -> Any:
    html, css, javascript = (
        (HERE / f"pair_view.{part}").read_text(encoding="utf-8") for part in ("html", "css", "js")
    )
    return st.components.v2.component("explorer.pair_view", html=html, css=css, js=javascript)


def links(alignment: Alignment | None) -> Links:
    """The nodes that are marked with each node: its partner first, then the steps inside that."""
    left: dict[str, list[str]] = {}
    right: dict[str, list[str]] = {}
    for pair in alignment.pairs if alignment else ():
        left_members, right_members = pair.members("left"), pair.members("right")
        for node in left_members:
            left.setdefault(node, []).extend(right_members)
        for node in right_members:
            right.setdefault(node, []).extend(left_members)
    return {"left": left, "right": right}


def pair_view(left: Pane, right: Pane, links: Links, *, key: str) -> tuple[SideName, str] | None:
    """Mount the component; gives the side and the node id that was chosen last."""
    before = st.session_state.get(key, {}).get("selected")
    result = _component()(
        data={"left": left.data(), "right": right.data(), "pairs": links, "selected": before},
        key=key,
        on_selected_change=lambda: None,
    )
    # What comes from a browser can be anything: only a side that there is may be looked up.
    chosen = result.selected
    if not chosen or chosen["side"] not in links:
        return None
    return chosen["side"], chosen["id"]
