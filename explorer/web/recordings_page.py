"""The page of recorded steps and trainings: one, or two with how they compare."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import streamlit as st

from explorer.blocks.records import Paragraph
from explorer.exploration.recordings import compared, graphs_at, report_on
from explorer.model.report import Report
from explorer.model.trace import Trace
from explorer.model.training import Training
from explorer.model.training_comparison import TrainingComparison
from explorer.report.losses import training_lines
from explorer.report.traces import trace_lines
from explorer.report.training import GRAPHS, WEIGHTS, comparison_figures, comparison_lines
from explorer.text.clean import clean
from explorer.text.language import _
from explorer.web.graphs_page import side_by_side
from explorer.web.links import follow, last_shown, remember
from explorer.web.recordings import folders, is_training, offered_files, trace_in, training_in
from explorer.web.widgets import errors_shown, new_bar, optional_box, plain
from explorer.workers.workers import Workers

PLACE = "recordings"

RECORDED = "recorded"
"""Stands for the case of recorded steps: there is one."""

REPORTS = "report on recorded steps"
"""The report that the session showed last, with the traces that it is about."""


def recordings() -> None:
    """Choose one recorded file, or two of one kind; what is in them, and how they differ."""
    st.subheader(_("Recorded steps and trainings"), anchor=False)
    offered = offered_files()
    if not offered:
        _say_how()
        return
    wanted = {**last_shown(PLACE), **follow(PLACE, ("file", "beside"))}
    bar = new_bar("recordings")
    file = optional_box(bar, _("Recorded"), "file", list(offered), wanted, _("choose one"), 300)
    others = _others(file, offered)
    beside = optional_box(bar, _("Beside"), "beside", others, wanted, _("nothing"), 300)
    remember(PLACE, {"file": file, "beside": beside})
    if not file:
        st.caption(_("Choose a file, and another one to compare it with."))
        return
    paths = {name: offered[name] for name in (file, beside) if name}
    with errors_shown():
        if is_training(offered[file]):
            _show_trainings({name: training_in(path) for name, path in paths.items()})
        else:
            _show_traces({name: trace_in(path) for name, path in paths.items()})


def _others(file: str, offered: Mapping[str, Path]) -> list[str]:
    """What a file can be compared with: the others of its kind."""
    others = [name for name in offered if name != file]
    if not file:
        return others
    return [name for name in others if is_training(offered[name]) == is_training(offered[file])]


def _show_graphs(traces: Mapping[str, Trace]) -> None:
    report = _report(traces)
    side_by_side({RECORDED: RECORDED}, RECORDED, lambda _label: report, ())


def _show_traces(traces: Mapping[str, Trace]) -> None:
    _show_graphs(traces)
    _show_lines([list(trace_lines(trace, name)) for name, trace in traces.items()])


def _show_trainings(trainings: Mapping[str, Training]) -> None:
    """The losses of a training; of two, the first difference, pictures, and what was compared."""
    if len(trainings) == 2:
        left, right = (msgspec.structs.replace(it, name=name) for name, it in trainings.items())
        comparison = compared(left, right)
        traces = graphs_at(left, right, comparison)
        _show_comparison(comparison, has_graphs=bool(traces))
        if traces:
            text = _("The graphs of step {n}, where they first differ")
            step = next(iter(traces.values())).step
            st.subheader(text.format(n=step), anchor=GRAPHS)
            _show_graphs(traces)
    for name, training in trainings.items():
        with st.expander(plain(name), expanded=len(trainings) == 1):
            st.code("\n".join(map(clean, training_lines(training, name))), language=None)


def _show_comparison(comparison: TrainingComparison, has_graphs: bool) -> None:
    """The first difference, pictures, and all answers."""
    headline, *lines = comparison_lines(comparison)
    box = st.success if comparison.difference is None else st.warning
    box(f"**{plain(headline)}**")
    columns = st.columns(2)
    for place, figure in enumerate(comparison_figures(comparison)):
        column = columns[place % 2]
        if isinstance(figure, Paragraph):
            column.info(plain(str(figure.text)))
            continue
        for svg in figure.files:
            column.image(svg.decode(), caption=figure.alt)
        if figure.name == WEIGHTS and has_graphs:
            # No image that a page shows can have a link in it.
            column.markdown(f"[{_('From the first red cell to its graphs')}](#{GRAPHS})")
    st.code("\n".join(map(clean, lines)), language=None)


def _say_how() -> None:
    """Where traces are looked for, and how one is made."""
    text = _("There is no recorded step or training in {folders}.")
    where = ", ".join(f"`{plain(str(folder))}`" for folder in folders())
    st.info(text.format(folders=where))
    st.markdown(_("A step of a program is recorded by these lines in it:"))
    st.code(EXAMPLE, language="python")


EXAMPLE = """import explorer

with explorer.record("traces/step.trace"):
    loss = model(batch).loss
    loss.backward()
"""


def _report(traces: Mapping[str, Trace]) -> Report:
    """The report on some traces; a session aligns two of them once."""
    known = st.session_state.get(REPORTS)
    if known is None or known[0] != list(traces.items()):
        with st.spinner(_("Pairing the nodes …"), show_time=True), Workers() as workers:
            known = list(traces.items()), report_on(traces, workers)
        st.session_state[REPORTS] = known
    report: Report = known[1]
    return report


def _show_lines(texts: Sequence[list[str]]) -> None:
    """What each file holds, and what it lacks, beside each other."""
    for column, (title, *lines) in zip(st.columns(len(texts)), texts, strict=True):
        column.markdown(f"**{plain(title)}**  \n" + "  \n".join(map(plain, lines)))
