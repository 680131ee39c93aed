"""The page of recorded steps: one, or two with how their graphs align."""

from collections.abc import Mapping

import streamlit as st

from explorer.exploration.traces import report_on
from explorer.model.report import Report
from explorer.model.trace import Trace
from explorer.report.traces import trace_lines
from explorer.text.language import _
from explorer.web.graphs_page import side_by_side
from explorer.web.links import follow, last_shown, remember
from explorer.web.recordings import folders, offered_traces, trace_in
from explorer.web.widgets import errors_shown, new_bar, optional_box, plain

PLACE = "recordings"

RECORDED = "recorded"
"""Stands for the case of recorded steps: there is one."""

REPORTS = "report on recorded steps"
"""The report that the session showed last, with the traces that it is about."""


def recordings() -> None:
    """Choose one trace or two; their graphs, and what was recorded and what was not."""
    st.subheader(_("Recorded steps"), anchor=False)
    offered = offered_traces()
    if not offered:
        _say_how()
        return
    wanted = {**last_shown(PLACE), **follow(PLACE, ("trace", "beside"))}
    bar = new_bar("recordings")
    trace = optional_box(bar, _("Trace"), "trace", list(offered), wanted, _("choose one"), 300)
    others = [name for name in offered if name != trace]
    beside = optional_box(bar, _("Beside"), "beside", others, wanted, _("nothing"), 300)
    remember(PLACE, {"trace": trace, "beside": beside})
    if not trace:
        st.caption(_("Choose a trace, and another one to compare it with."))
        return
    with errors_shown():
        chosen = [name for name in (trace, beside) if name]
        traces = {name: trace_in(offered[name]) for name in chosen}
        report = _report(traces)
        side_by_side({RECORDED: RECORDED}, RECORDED, lambda _label: report, ())
        _show_facts(traces)


def _say_how() -> None:
    """Where traces are looked for, and how one is made."""
    text = _("There is no trace in {folders}.")
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
        with st.spinner(_("Pairing the nodes …"), show_time=True):
            known = list(traces.items()), report_on(traces)
        st.session_state[REPORTS] = known
    report: Report = known[1]
    return report


def _show_facts(traces: Mapping[str, Trace]) -> None:
    """What each trace holds, and what it lacks."""
    for column, (name, trace) in zip(st.columns(len(traces)), traces.items(), strict=True):
        title, *lines = trace_lines(trace, name)
        column.markdown(f"**{plain(title)}**  \n" + "  \n".join(map(plain, lines)))
