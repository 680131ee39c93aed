"""The app's one component: two drawings side by side, in which a node and its pair are found,
marked and chosen together.
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


class Side(msgspec.Struct, frozen=True):
    """One drawing: its caption, its SVG, and what its nodes' ids begin with, so that ids stay
    unique on the page.
    """

    caption: str
    svg: str
    prefix: str

    def data(self) -> dict[str, str]:
        """As the browser gets it; it replaces the drawing only when ``key`` changes."""
        return {
            **msgspec.structs.asdict(self),
            "key": hashlib.sha256(self.svg.encode()).hexdigest(),
        }


@cache
def _component() -> Any:
    html, css, js = (
        (HERE / f"pair_view.{part}").read_text(encoding="utf-8") for part in ("html", "css", "js")
    )
    return st.components.v2.component("explorer.pair_view", html=html, css=css, js=js)


def pairs(alignment: Alignment | None) -> dict[SideName, dict[str, list[str]]]:
    """For each side, the ids on the other side that a node is paired with: the pair's own node
    first, then steps inside it.
    """
    found: dict[SideName, dict[str, list[str]]] = {"left": {}, "right": {}}
    sides: tuple[tuple[SideName, SideName], ...] = (("left", "right"), ("right", "left"))
    for pair in alignment.pairs if alignment else ():
        for side, other in sides:
            for node in pair.members(side):
                found[side].setdefault(node, []).extend(pair.members(other))
    return found


def pair_view(
    left: Side, right: Side, links: Mapping[SideName, Mapping[str, list[str]]], *, key: str
) -> tuple[str, str] | None:
    """Mount the component; gives the side and the node id that was chosen last, checked against the
    sides there are.
    """
    before = st.session_state.get(key, {}).get("selected")
    result = _component()(
        data={"left": left.data(), "right": right.data(), "pairs": links, "selected": before},
        key=key,
        on_selected_change=lambda: None,
    )
    chosen = result.selected
    return (chosen["side"], chosen["id"]) if chosen and chosen["side"] in links else None
