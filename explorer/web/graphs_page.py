"""The page of graphs: two engines' gradient graphs of one case side by side, and the pair of nodes
that was clicked.
"""

import hashlib
from collections.abc import Mapping

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.compare.align import align
from explorer.drawing import draw
from explorer.drawing.formats import View
from explorer.model.alignment import Alignment
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.report import wording
from explorer.report.markdown import escape
from explorer.text.clean import clean
from explorer.text.messages import one_line
from explorer.web.frame import graphs_of
from explorer.web.node_detail import node_detail
from explorer.web.pair_view import Side, pair_view, pairs
from explorer.web.running import Question
from explorer.web.shown import Shown, translated

FIRST = ("torch-tape", "mindspore-graph")
"""The contrast shown first: what most readers take for PyTorch against MindSpore."""

VIEWS: tuple[View, ...] = ("ladder", "flow")
DEPTHS = {"every op": None, "modules": 1, "modules in modules": 2}


STAGES = {
    "type_inference": "1 forward program",
    "opt_a": "2 with its gradient",
    "validate": "3 as it is run",
}
"""What MindSpore's compiler has made of a net after each of the passes that are captured."""


def graphs(question: Question, report: Report) -> None:
    """Choose a case, two engines and a view; then the two graphs."""
    labels = {case.case.label: wording.short(case.case) for case in report.cases}
    captured = report.graphs[0].case if report.graphs else None
    bar = st.container(horizontal=True)
    default = list(labels).index(captured) if captured in labels else 0
    case = bar.selectbox(
        "Case",
        list(labels),
        index=default,
        format_func=labels.__getitem__,
        key="graph_case",
        width=260,
    )
    shown = report if case == captured else graphs_of(question, case)
    for name, reason in shown.ungraphed.items():
        st.warning(f"No graph from {escape(name)}: {escape(one_line(reason))}")
    found: dict[str, list[GradGraph]] = {}
    for graph in shown.graphs:
        found.setdefault(graph.engine, []).append(graph)
    if not found:
        return
    left = bar.selectbox(
        "Left", list(found), index=_place(found, FIRST[0], ""), key="left engine", width=185
    )
    first = _stage(bar, found[left], "left")
    right = bar.selectbox(
        "Right", list(found), index=_place(found, FIRST[1], left), key="right engine", width=185
    )
    second = _stage(bar, found[right], "right")
    view = bar.selectbox("View", VIEWS, key="view", width=110)
    depth = bar.selectbox("Detail", list(DEPTHS), key="depth", width=180)
    _pair(first, second, view, DEPTHS[depth])


def _stage(bar: DeltaGenerator, graphs: list[GradGraph], side: str) -> GradGraph:
    """One of an engine's graphs: where a compiler makes several, one after another, the stage that
    is chosen.
    """
    if len(graphs) == 1:
        return graphs[0]
    stages = {graph.stage: graph for graph in graphs}
    names = list(stages)
    chosen = bar.selectbox(
        "Stage",
        names,
        index=len(names) - 1,
        format_func=lambda name: STAGES.get(name, name),
        key=f"{side} stage",
        width=200,
    )
    return stages[chosen]


def _place(found: Mapping[str, object], name: str, taken: str) -> int:
    """Where ``name`` stands among the engines; where it is missing, or taken, the first that is
    not.
    """
    free = [engine for engine in found if engine != taken] or list(found)
    return list(found).index(name if name in free else free[0])


def _pair(left: GradGraph, right: GradGraph, view: View, depth: int | None) -> None:
    bare = [f"{graph.engine}, {graph.stage}" for graph in (left, right) if not _valued(graph)]
    alignment = (
        _alignment(_digest(left), _digest(right), left, right)
        if left.engine != right.engine and not bare
        else None
    )
    if alignment:
        _say(alignment)
    elif bare:
        st.info(
            f"Nodes pair by their values, and this stage was not run: {escape('; '.join(dict.fromkeys(bare)))}."
        )
    one, other = Shown.of(left, depth), Shown.of(right, depth)
    seen = translated(alignment, one, other) if alignment else None
    numbers = (seen.numbers("left"), seen.numbers("right")) if seen else ({}, {})
    sides = (
        _side(one.graph, view, numbers[0], "left-"),
        _side(other.graph, view, numbers[1], "right-"),
    )
    _view(*sides, one.graph, other.graph, seen)
    for note in dict.fromkeys(
        f"{graph.engine}: {note}" for graph in (left, right) for note in graph.notes
    ):
        st.caption(escape(clean(note)))


def _valued(graph: GradGraph) -> bool:
    return any(output.values for node in graph.nodes for output in node.outputs)


def _side(graph: GradGraph, view: View, numbers: dict[str, int], prefix: str) -> Side:
    caption = " · ".join(
        (graph.engine, ENGINES[graph.engine].how, *([graph.stage] if graph.stage in STAGES else []))
    )
    return Side(caption, _svg(_digest(graph), graph, view, numbers, prefix), prefix)


def _say(alignment: Alignment) -> None:
    """What the alignment found, in a sentence; the first divergence where there is one."""
    counts = [
        f"{side.forward + side.backward} of {side.forward_total + side.backward_total}"
        for side in (alignment.left_coverage, alignment.right_coverage)
    ]
    paired = f"{counts[0]} ops on the left and {counts[1]} on the right hold the value of a partner, or are a step inside one."
    if alignment.divergence:
        st.warning(f"**{escape(clean(alignment.divergence.sentence))}**  \n{paired}")
    else:
        st.success(f"**The two graphs never part:** every named result is the same. {paired}")


@st.fragment
def _view(
    left: Side, right: Side, one: GradGraph, other: GradGraph, alignment: Alignment | None
) -> None:
    chosen = pair_view(left, right, pairs(alignment), key="pair_view")
    node_detail(chosen, one, other, alignment)


def _digest(graph: GradGraph) -> str:
    return hashlib.sha256(msgspec.msgpack.encode(graph)).hexdigest()


@st.cache_data(show_spinner="Pairing the nodes …", max_entries=64)
def _alignment(left_key: str, right_key: str, _left: GradGraph, _right: GradGraph) -> Alignment:
    return align(_left, _right)


@st.cache_data(show_spinner="Drawing …", max_entries=64)
def _svg(key: str, _graph: GradGraph, view: View, numbers: dict[str, int], prefix: str) -> str:
    return draw(_graph, format="svg", view=view, numbers=numbers, prefix=prefix).decode()
