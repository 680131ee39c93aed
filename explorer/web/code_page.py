"""The page of code: both nets side by side, each line linked to its nodes and to the other net's line."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import streamlit as st
from streamlit.navigation.page import StreamlitPage

from explorer.model.engines import engine_named
from explorer.model.graph import GradGraph, SideName
from explorer.model.report import Report
from explorer.pair.alignments import last_by_engine
from explorer.report.scenario.code_lines import CodeBlock, LinkedNode, both_nets
from explorer.text.language import _, later
from explorer.web.graph_choices import (
    FIRST_LEFT,
    FIRST_RIGHT,
    Chosen,
    alignment_of,
    show_ungraphed,
)
from explorer.web.links import follow, last_shown, place_of, remember, unless
from explorer.web.report_page import PLACE as CHOICE
from explorer.web.report_page import ReportKey
from explorer.web.why_cards import computed_again
from explorer.web.widgets import new_bar, plain
from explorer.words.divergences import first_divergence

# The component

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
    words = {
        "differs": _("the graphs differ here"),
        "write": _("write"),
        "copy": _("Copy"),
        "copied": _("Copied"),
    }
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
    ids: set[str] = set()
    for block in net.blocks:
        for line in block.lines:
            ids.update(node.id for node in line.nodes)
    return ids


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


# The page

PLACE = "code"

FIRST: dict[SideName, str] = {"left": FIRST_LEFT, "right": FIRST_RIGHT}
"""The engines that are shown first."""


SIDES: dict[SideName, str] = {"left": later("Left"), "right": later("Right")}


def code(graphs: StreamlitPage) -> Callable[[ReportKey, Report], None]:
    """The page of code, whose nodes lead to the page of ``graphs``."""

    def code(key: ReportKey, report: Report) -> None:
        """Choose two engines; then the code of their nets."""
        last_stages = last_by_engine(report.graphs)
        show_ungraphed(report)
        if not last_stages:
            st.caption(_("No engine has a graph whose nodes could be linked to lines."))
            return
        wanted = follow(PLACE, ("left", "right"))
        bar = new_bar("code")
        chosen = Chosen(bar, bar, wanted, {})
        names = list(last_stages)
        engines: dict[SideName, str] = {}
        for side, title in SIDES.items():
            first = names[place_of(FIRST[side], names)]
            engines[side] = chosen.one_of(side, _(title), names, first, width=200)
        remember(PLACE, {side: unless(name, FIRST[side]) for side, name in engines.items()})
        st.caption(
            _(
                "Hover over a line to see its counterpart; click it, or one of its nodes, to open"
                " that node in the graphs. Dashed nodes belong to the backward; ≠ marks where the"
                " graphs differ."
            )
        )
        opened = _nets(key, report, last_stages[engines["left"]], last_stages[engines["right"]])
        if opened:
            st.switch_page(graphs, query_params=_address(engines, *opened))

    return code


def _nets(
    key: ReportKey, report: Report, left: GradGraph, right: GradGraph
) -> tuple[SideName, str] | None:
    """Both nets; the side and the id of a node that was clicked."""
    alignment = alignment_of(left, right, report)
    if alignment and alignment.divergence:
        st.warning(f"**{plain(first_divergence(alignment))}**")
        computed_again(alignment)
    left_code, right_code = both_nets(left, right, alignment, key.path)
    engines: dict[SideName, str] = {"left": left.engine, "right": right.engine}

    def href(side: SideName, node: str) -> str:
        return f"graphs?{urlencode(_address(engines, side, node))}"

    nets = Net(_title(left), left_code), Net(_title(right), right_code)
    return code_view(*nets, href, key=f"code {left.engine} {right.engine} {key.digest}")


def _title(graph: GradGraph) -> str:
    return f"{graph.engine} · {_(engine_named(graph.engine).how)}"


def _address(engines: Mapping[SideName, str], side: SideName, node: str) -> dict[str, str]:
    """The address of the page of graphs that shows a node."""
    address = {**last_shown(CHOICE), "node": f"{side}:{node}"}
    address.update(engines.items())
    return address
