"""The app's component of two nets' code, in which a line lights its partner and leads to its nodes.

Its behaviour in the browser is in code_view.js.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import streamlit as st

from explorer.model.sides import SideName
from explorer.report.scenario.code_lines import CodeBlock, LinkedNode
from explorer.text.language import _

HERE = Path(__file__).resolve().parent

Href = Callable[[SideName, str], str]
"""The address, relative to the app's, at which a side's node is shown."""


class Net(msgspec.Struct, frozen=True):
    """One net: its title and its code."""

    title: str
    blocks: Sequence[CodeBlock]


@cache
def _component() -> Any:
    html, css, javascript = (
        (HERE / f"code_view.{part}").read_text(encoding="utf-8") for part in ("html", "css", "js")
    )
    return st.components.v2.component("explorer.code_view", html=html, css=css, js=javascript)


def code_view(left: Net, right: Net, href: Href, *, key: str) -> tuple[SideName, str] | None:
    """Mount the component; gives the side and the id of a node that was just clicked."""
    words = {"differs": _("the graphs differ here")}
    data = {"left": _data(left, "left", href), "right": _data(right, "right", href), "words": words}
    result = _component()(data=data, key=key, on_opened_change=lambda: None)
    # What comes from a browser can be anything: only what there is may be opened.
    nodes: dict[SideName, set[str]] = {"left": _ids(left), "right": _ids(right)}
    for side, ids in nodes.items():
        for node in ids:
            if result.opened == f"{side}:{node}":
                return side, node
    return None


def _ids(net: Net) -> set[str]:
    return {node.id for block in net.blocks for line in block.lines for node in line.nodes}


def _data(net: Net, side: SideName, href: Href) -> dict[str, Any]:
    blocks = []
    for block in net.blocks:
        lines = []
        for line in block.lines:
            nodes = [_node(node, side, href) for node in line.nodes]
            lines.append({**msgspec.to_builtins(line), "nodes": nodes})
        blocks.append({"file": block.file, "lines": lines})
    return {"title": net.title, "blocks": blocks}


def _node(node: LinkedNode, side: SideName, href: Href) -> dict[str, Any]:
    return {**msgspec.to_builtins(node), "href": href(side, node.id)}
