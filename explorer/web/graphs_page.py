"""The page of graphs: two graphs of one case side by side, and a clicked node with its pair."""

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.drawing.formats import draw_shown
from explorer.drawing.marks import Marks, diverging_nodes, marks
from explorer.drawing.shown import Depth, Shown, show_both
from explorer.drawing.views import ViewName
from explorer.model.alignment import Alignment
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.model.passes import PASSES
from explorer.model.report import Report
from explorer.report.coverage import counted, not_compared, unproven
from explorer.report.markdown import escape
from explorer.text.clean import clean
from explorer.text.messages import one_line
from explorer.web.alignments import alignment_of, digest_of_graph, has_values
from explorer.web.explorations import ReportKey
from explorer.web.merged_graph import merged_alignment
from explorer.web.node_detail import node_detail
from explorer.web.pair_view import Pane, links, pair_view
from explorer.web.report_page import graphs_of

FIRST_LEFT, FIRST_RIGHT = "torch-tape", "mindspore-graph"
"""The contrast shown first: what most readers take for PyTorch against MindSpore."""

VIEWS: tuple[ViewName, ...] = ("ladder", "flow")
DEPTHS: dict[str, Depth] = {
    "as fits": "fit",
    "every op": "all",
    "modules": 1,
    "modules in modules": 2,
}
"""How much is shown; what is chosen first shows every op of a small net."""

STAGES = {compiler_pass.stage: compiler_pass.label for compiler_pass in PASSES}
"""The label of each captured stage of MindSpore's compiler."""


def graphs(key: ReportKey, report: Report) -> None:
    """Choose a case, two engines and a view; then the two graphs."""
    # Everything that can be chosen stands in one bar; what is below depends on it.
    bar = st.container(horizontal=True)
    case_report = _report_on_case(bar, key, report)
    for name, reason in case_report.ungraphed.items():
        st.warning(f"No graph from {escape(name)}: {escape(one_line(reason))}")
    by_engine: dict[str, list[GradGraph]] = {}
    for graph in case_report.graphs:
        by_engine.setdefault(graph.engine, []).append(graph)
    if not by_engine:
        return
    left = _graph(bar, by_engine, "left", FIRST_LEFT, taken="")
    right = _graph(bar, by_engine, "right", FIRST_RIGHT, taken=left.engine)
    view = bar.selectbox("View", VIEWS, key="view", width=110)
    depth = DEPTHS[bar.selectbox("Detail", list(DEPTHS), key="depth", width=180)]

    alignment = alignment_of(left, right, case_report)
    if alignment:
        _summary(alignment)
    else:
        _stages_without_values(left, right)
    _side_by_side(*show_both(left, right, depth), view, alignment)
    notes = [f"{graph.engine}: {note}" for graph in (left, right) for note in graph.notes]
    for note in dict.fromkeys(notes):  # the same engine may stand on both sides
        st.caption(escape(clean(note)))


def _report_on_case(bar: DeltaGenerator, key: ReportKey, report: Report) -> Report:
    """The report that has the graphs of the chosen case; the whole report has those of one case."""
    short_names = {case.case.label: case.case.short for case in report.cases}
    captured = report.graphs[0].case if report.graphs else None
    labels = list(short_names)
    label = bar.selectbox(
        "Case",
        labels,
        index=labels.index(captured) if captured in labels else 0,
        format_func=short_names.__getitem__,
        key="graph_case",
        width=260,
    )
    return report if label == captured else graphs_of(key, label)


def _graph(
    bar: DeltaGenerator,
    by_engine: Mapping[str, list[GradGraph]],
    side: str,
    first: str,
    taken: str,
) -> GradGraph:
    """The graph for one side: ``first``, or of the engines that are not ``taken``, until chosen."""
    engines = list(by_engine)
    # Where only one engine gave a graph, it stands on both sides.
    free = [engine for engine in engines if engine != taken] or engines
    shown_first = first if first in free else free[0]
    engine = bar.selectbox(
        side.capitalize(),
        engines,
        index=engines.index(shown_first),
        key=f"{side} engine",
        width=185,
    )
    return _stage(bar, by_engine[engine], side)


def _stage(bar: DeltaGenerator, engine_graphs: list[GradGraph], side: str) -> GradGraph:
    """One of an engine's graphs: where a compiler makes several, the stage that is chosen."""
    if len(engine_graphs) == 1:
        return engine_graphs[0]
    stages = {graph.stage: graph for graph in engine_graphs}
    stage = bar.selectbox(
        "Stage",
        list(stages),
        index=len(stages) - 1,
        format_func=lambda name: STAGES.get(name, name),
        key=f"{side} stage",
        width=200,
    )
    return stages[stage]


def _summary(alignment: Alignment) -> None:
    """How much is paired, in a sentence, and the first divergence where there is one."""
    left, right = alignment.left_coverage.whole, alignment.right_coverage.whole
    ops = f"Ops on the left: {counted(left)}; on the right: {counted(right)}."
    if alignment.drawn:
        remark = escape(clean(not_compared(alignment)))
        ops = f"{ops} Results {remark}."
    same = f"Every {'other' if alignment.drawn else 'named'} result is the same"
    wrong = len(alignment.contradictions)
    if alignment.divergence:
        st.warning(f"**{escape(clean(alignment.divergence.sentence))}**  \n{ops}")
    elif wrong:
        nodes = "1 op holds" if wrong == 1 else f"{wrong} ops hold"
        st.warning(f"**No result differs, but {nodes} a value that is wrong.** {ops}")
    elif alignment.unproven:
        st.success(f"**{same}.** {ops} {unproven(alignment).capitalize()}.")
    else:
        st.success(f"**The two graphs never part.** {same}. {ops}")


def _stages_without_values(left: GradGraph, right: GradGraph) -> None:
    """Why two graphs have no pairs: a stage that was not run has no values."""
    stages = [f"{graph.engine}, {graph.stage}" for graph in (left, right) if not has_values(graph)]
    if stages:
        which = escape("; ".join(dict.fromkeys(stages)))
        st.info(f"Nodes pair by their values, and this stage was not run: {which}.")


def _side_by_side(left: Shown, right: Shown, view: ViewName, alignment: Alignment | None) -> None:
    left_numbers: dict[str, int] = {}
    right_numbers: dict[str, int] = {}
    if alignment:
        alignment = merged_alignment(alignment, left, right)
        left_numbers, right_numbers = alignment.numbers("left"), alignment.numbers("right")
    left_parts, right_parts = diverging_nodes(alignment)
    left_pane = _pane(left, view, marks(left, left_numbers, left_parts), "left-")
    right_pane = _pane(right, view, marks(right, right_numbers, right_parts), "right-")
    _panes(left_pane, right_pane, left.graph, right.graph, alignment)


def _pane(shown: Shown, view: ViewName, marks: Marks, prefix: str) -> Pane:
    graph = shown.graph
    caption = f"{graph.engine} · {ENGINES[graph.engine].how}"
    if graph.stage in STAGES:
        caption += f" · {graph.stage}"
    said = tuple((node, mark.number, mark.diverges) for node, mark in marks.items())
    return Pane(caption, _svg(digest_of_graph(graph), said, shown, view, marks, prefix), prefix)


@st.cache_data(show_spinner="Drawing …", max_entries=64)
def _svg(
    graph_digest: str,
    said: tuple[tuple[str, int | None, bool], ...],
    _shown: Shown,
    view: ViewName,
    _marks: Marks,
    prefix: str,
) -> str:
    # Streamlit leaves arguments that begin with an underscore out of the key: the digest and what
    # is said of the nodes stand for these two.
    return draw_shown(_shown, format="svg", view=view, marks=_marks, prefix=prefix).decode()


@st.fragment
def _panes(
    left_pane: Pane,
    right_pane: Pane,
    left: GradGraph,
    right: GradGraph,
    alignment: Alignment | None,
) -> None:
    # A fragment: a click reruns these lines alone, and the drawings stay where they are.
    chosen = pair_view(left_pane, right_pane, links(alignment), key="pair_view")
    node_detail(chosen, left, right, alignment)
