"""The page of graphs: any two side by side, with what is known of each node and of its pair."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec
import streamlit as st

from explorer.drawing.folding import Folding
from explorer.drawing.formats import draw_shown
from explorer.drawing.marks import Marks
from explorer.drawing.shown import Depth, Shown, show_both, show_folded
from explorer.drawing.structure import module_names
from explorer.drawing.views import ViewName
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph, SideName
from explorer.model.report import Report
from explorer.pair.alignments import both_marks, caption, has_values, merged_alignment
from explorer.pair.component import words
from explorer.pair.details import SourceLines
from explorer.pair.records import Side, StageChanges, pair_record, sources, stage_changes
from explorer.scenario.own_nets import code_of
from explorer.text.language import _, code, said_in
from explorer.web.graph_choices import (
    GRAPHS,
    NAMES,
    SAME_CASE,
    Chosen,
    alignment_of,
    chosen_depth,
    chosen_engine,
    chosen_stage,
    chosen_view,
    digest_of_graph,
    show_ungraphed,
)
from explorer.web.links import follow, last_shown, remember
from explorer.web.pair_view import IN_VIEW, ViewState, address_of, pair_view, state_of
from explorer.web.report_page import ReportKey, graphs_of
from explorer.web.why_cards import why_cards
from explorer.web.widgets import new_bar, plain
from explorer.words.coverage import (
    contradictions,
    counted,
    not_compared,
    not_of_the_call,
    unproven,
)
from explorer.words.divergences import first_divergence
from explorer.words.graphs import STAGES, note

REVISION = "revision of the graphs"
"""Counts in the session how often what is chosen in the drawings was changed from outside of them."""

SHOWN_GRAPHS = "graphs in sight"
"""Which two graphs the session showed last, by their digests."""

OF_THESE_GRAPHS = ("node", "step")
"""Names in the address whose values mean something in the two graphs in sight alone."""

ReportOn = Callable[[str], Report]
"""Gives the report that has the graphs of a case, by the case's label."""


class Choice(msgspec.Struct, frozen=True):
    """The graph of one side, the report it is from, and what the pass before it changed."""

    graph: GradGraph
    report: Report
    changes: StageChanges | None = None


def graphs(key: ReportKey, report: Report) -> None:
    """Choose cases, engines and a view; then the two graphs."""
    captured = None
    if report.graphs:
        captured = report.graphs[0].case

    def report_on(label: str) -> Report:
        if label == captured:
            return report
        return graphs_of(key, label)

    labels = {case.case.label: case.case.short for case in report.cases}
    side_by_side(labels, captured, report_on, code_of(key.path))


def side_by_side(
    labels: Mapping[str, str], captured: str | None, report_on: ReportOn, code: tuple[Path, ...]
) -> None:
    """Two graphs of the cases with these labels and short names, the ``captured`` one at first.

    ``code`` are the folders and packages with the nets' lines.
    """
    before = last_shown(GRAPHS)
    wanted = follow(GRAPHS, (*NAMES, *IN_VIEW))
    # Everything that can be chosen is in one line; what is below depends on it.
    with st.container(horizontal=True, vertical_alignment="bottom"):
        boxes = new_bar("graphs", width="content")
        more = st.popover(_("More"), icon=":material/tune:")
    chosen = Chosen(boxes, more, wanted, {})
    pair = _chosen_pair(chosen, labels, captured, report_on)
    if pair is None:
        return
    left, right = pair
    view, depth = chosen_view(chosen), chosen_depth(chosen)
    alignment = alignment_of(left.graph, right.graph, left.report)
    _introduce(left, right, alignment)
    modules = module_names(left.graph) | module_names(right.graph)
    state = _state(before, wanted, (left.graph, right.graph), modules)
    shown = _shown(left.graph, right.graph, depth, state)
    sides = _sides(left, right, shown, view, alignment)
    merged = None
    if alignment:
        merged = merged_alignment(alignment, *shown)
    drawn = "".join(f"{side.caption}{side.graph_key}{side.svg}" for side in sides)
    with st.spinner(_("Reading the values …"), show_time=True):
        record = _record(drawn, words(), sides, alignment, merged)
    _panes(record, sources(*shown, code), state, chosen.address, _chosen_above())
    notes: dict[str, None] = {}  # the same engine may be on both sides
    for side in pair:
        for kind in side.graph.notes:
            text = _("{what}: {values}")
            notes[text.format(what=side.graph.engine, values=note(kind))] = None
    for text in notes:
        st.caption(plain(text))


def _state(
    before: Mapping[str, str],
    wanted: Mapping[str, str],
    graphs: tuple[GradGraph, GradGraph],
    modules: Iterable[str],
) -> ViewState:
    """What the drawings are to show as chosen.

    It has a higher revision where the browser is to take it over: the address has changed it, or
    others are the graphs.
    """
    digests = [digest_of_graph(graph) for graph in graphs]
    are_others = st.session_state.get(SHOWN_GRAPHS, digests) != digests
    st.session_state[SHOWN_GRAPHS] = digests
    asked = {name for name in (*NAMES, *IN_VIEW) if before.get(name) != wanted.get(name)}
    if are_others and not asked:
        # A box has chosen other graphs: what was chosen in the ones before is no wish for these.
        wanted = {name: wanted[name] for name in wanted if name not in OF_THESE_GRAPHS}
    revision: int = st.session_state.get(REVISION, 0)
    if are_others or asked.intersection(IN_VIEW):
        revision += 1
        st.session_state[REVISION] = revision
    return state_of(wanted, revision, modules)


def _chosen_pair(
    chosen: Chosen, labels: Mapping[str, str], captured: str | None, report_on: ReportOn
) -> tuple[Choice, Choice] | None:
    """Both graphs; None where no engine gave one."""
    if len(labels) == 1:
        (label,) = labels
        return _choices(chosen, report_on(label), report_on(label))
    shorts = {short: label for label, short in labels.items()}
    first = labels.get(captured or "", next(iter(labels.values())))
    case = chosen.one_of("case", _("Case"), list(shorts), first, width=220)
    others = [SAME_CASE, *(short for short in shorts if short != case)]
    other = chosen.one_of(
        "right_case",
        _("Case on the right"),
        others,
        SAME_CASE,
        lambda short: short or _("the same"),
        is_rare=True,
    )
    left_report = report_on(shorts[case])
    return _choices(chosen, left_report, report_on(shorts[other]) if other else left_report)


def _choices(
    chosen: Chosen, left_report: Report, right_report: Report
) -> tuple[Choice, Choice] | None:
    """The graph of each side, of one report or of two; None where no engine gave one."""
    left = _choice(chosen, "left", _("Left"), _("Stage on the left"), left_report, taken="")
    taken = left.graph.engine if left and left_report is right_report else ""
    right = _choice(chosen, "right", _("Right"), _("Stage on the right"), right_report, taken)
    if left is None or right is None:
        return None
    return left, right


def _choice(
    chosen: Chosen, side: SideName, title: str, stage_title: str, report: Report, taken: str
) -> Choice | None:
    if side == "left":
        show_ungraphed(report)
    by_engine: dict[str, list[GradGraph]] = {}
    for graph in report.graphs:
        by_engine.setdefault(graph.engine, []).append(graph)
    if not by_engine:
        return None
    engine = chosen_engine(chosen, side, title, list(by_engine), taken)
    graph, stage_before = chosen_stage(chosen, side, stage_title, by_engine[engine])
    if stage_before is None:
        return Choice(graph, report)
    return Choice(graph, report, stage_changes(stage_before, graph))


def _introduce(left: Choice, right: Choice, alignment: Alignment | None) -> None:
    """How the two graphs compare, and what a pass changed in them."""
    if alignment:
        _summary(alignment)
    else:
        _stages_without_values(left.graph, right.graph)
    for side in (left, right):
        # The last stage is what is shown at first: its changes are of interest beside another one.
        if side.changes and (alignment is None or left.graph.engine == right.graph.engine):
            text = _("{stage} has new: {added}. Gone since the stage before: {removed}.")
            st.caption(
                text.format(
                    stage=plain(_(STAGES.get(side.graph.stage, side.graph.stage))),
                    added=plain(side.changes.added or _("nothing")),
                    removed=plain(side.changes.removed or _("nothing")),
                )
            )


def _summary(alignment: Alignment) -> None:
    """How much is paired, in a sentence, and the first divergence where there is one."""
    left, right = alignment.left_coverage.whole, alignment.right_coverage.whole
    ops = _("Ops on the left: {left}; on the right: {right}.").format(
        left=counted(left), right=counted(right)
    )
    lines = [ops]
    if alignment.drawn:
        lines.append(plain(not_compared(alignment)))
    if alignment.unproven and not alignment.divergence:
        lines.append(unproven(alignment))
    box = st.warning
    if alignment.altered:
        point = plain(not_of_the_call(alignment))
    elif alignment.divergence:
        point = plain(first_divergence(alignment))
    elif alignment.contradictions:
        point = contradictions(alignment)
    else:
        box = st.success
        point = _("The two graphs agree in all that does not depend on random numbers.")
        if not alignment.drawn:
            point = _("The two graphs agree: every result is the same.")
    box("  \n".join((f"**{point}**", *lines)))
    if not alignment.altered:
        why_cards(alignment)


def _stages_without_values(left: GradGraph, right: GradGraph) -> None:
    """Why two graphs have no pairs: a stage that was not run has no values."""
    stages: dict[str, None] = {}
    for graph in (left, right):
        if not has_values(graph):
            stages[f"{graph.engine}, {graph.stage}"] = None
    if stages:
        which = plain(_("; ").join(stages))
        said = _("Nodes pair by their values, and this stage has none: {which}.")
        st.info(said.format(which=which))


def _shown(
    left: GradGraph, right: GradGraph, depth: Depth, state: ViewState
) -> tuple[Shown, Shown]:
    """Both graphs with their modules merged to a depth, but for those opened and folded."""
    both = show_both(left, right, depth)
    if not (state.opened or state.folded):
        return both
    opened, folded = frozenset(state.opened), frozenset(state.folded)

    def folding(shown: Shown) -> Folding:
        return Folding(shown.depth, opened, folded, shown.folding.stretches)

    return show_folded(left, folding(both[0])), show_folded(right, folding(both[1]))


def _sides(
    left: Choice,
    right: Choice,
    shown: tuple[Shown, Shown],
    view: ViewName,
    alignment: Alignment | None,
) -> tuple[Side, Side]:
    left_marks, right_marks = both_marks(shown, alignment)
    return (
        _side(left, shown[0], view, left_marks, "left-"),
        _side(right, shown[1], view, right_marks, "right-"),
    )


def _side(choice: Choice, shown: Shown, view: ViewName, marks: Marks, prefix: str) -> Side:
    graph = choice.graph
    digest = digest_of_graph(shown.graph)
    said = tuple((node, mark.number, mark.diverges) for node, mark in marks.items())
    with st.spinner(_("Drawing …"), show_time=True):
        drawing = _svg(digest, said, shown, view, marks, prefix, code())
    new: frozenset[str] = frozenset()
    if choice.changes:
        new = choice.changes.new
    return Side(caption(graph), drawing, prefix, shown, graph, digest_of_graph(graph), new)


@st.cache_data(show_spinner=False, max_entries=64)
def _svg(
    graph_digest: str,
    said: tuple[tuple[str, int | None, bool], ...],
    _shown: Shown,
    view: ViewName,
    _marks: Marks,
    prefix: str,
    language: str,
) -> str:
    # Streamlit leaves arguments that begin with an underscore out of the key: the digest and what
    # is said of the nodes stand for these two.
    with said_in(language):
        svg = draw_shown(_shown, format="svg", view=view, marks=_marks, prefix=prefix)
    return svg.decode()


@st.cache_data(show_spinner=False, max_entries=32)
def _record(
    drawn: str,
    words: Mapping[str, str],
    _sides: tuple[Side, Side],
    _alignment: Alignment | None,
    _merged: Alignment | None,
) -> bytes:
    # What is drawn says which nodes are pairs; the texts stand for the visitor's language.
    return msgspec.json.encode(pair_record(*_sides, _alignment, _merged))


@st.fragment
def _panes(
    record: bytes,
    sources: Mapping[str, SourceLines],
    state: ViewState,
    address: Mapping[str, str],
    above: Mapping[str, object],
) -> None:
    # A fragment: what is chosen reruns these lines alone, and the drawings stay where they are.
    chosen = pair_view(record, sources, state, key="pair_view")
    remember(GRAPHS, {**address, **address_of(chosen)})
    modules_changed = (chosen.opened, chosen.folded) != (state.opened, state.folded)
    # The browser sends what changes in one moment together, and asks for the fragment alone where
    # any of it is the fragment's: a box above may have been changed in that moment.
    if modules_changed or _chosen_above() != above:
        st.rerun()  # the graphs are drawn anew


def _chosen_above() -> dict[str, object]:
    """What the boxes above the drawings hold, by their names in the address."""
    return {name: st.session_state.get(name) for name in NAMES}
