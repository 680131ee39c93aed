"""Pages of the app on records made by hand: no scenario is run, and no framework is needed.

What the session has under "label" stands wherever a scenario or a framework can put a text.
"""

from collections.abc import Callable


def semantics() -> None:
    """The page of cases."""
    from pathlib import Path

    import streamlit as st

    from explorer.web.cases_page import cases
    from explorer.web.report_page import ReportKey
    from explorer.web.widgets import show_finding
    from tests.support.labelled_report import labelled_report

    report = labelled_report(st.session_state["label"])
    for finding in report.findings:
        show_finding(finding)
    cases(ReportKey(Path("net.py"), "digest"), report)


def graphs() -> None:
    """The page of graphs."""

    import streamlit as st

    from explorer.web.graphs_page import side_by_side
    from tests.support.labelled_report import labelled_report

    report = labelled_report(st.session_state["label"])
    labels = {case.case.label: case.case.short for case in report.cases}
    side_by_side(labels, report.graphs[0].case, lambda _: report, ())


def code() -> None:
    """The page of code, without the way to the graphs."""
    from pathlib import Path

    import streamlit as st

    from explorer.web.code_page import code
    from explorer.web.report_page import ReportKey
    from tests.support.labelled_report import labelled_report

    report = labelled_report(st.session_state["label"])
    page = st.Page(lambda: None, title="graphs", url_path="graphs")
    code(page)(ReportKey(Path("net.py"), "digest"), report)


def export() -> None:
    """The page of exports."""
    from pathlib import Path

    import streamlit as st

    from explorer.web.export_page import export
    from explorer.web.report_page import ReportKey
    from tests.support.labelled_report import labelled_report

    export(ReportKey(Path("net.py"), "digest"), labelled_report(st.session_state["label"]))


def claims() -> None:
    """The board of claims."""
    import streamlit as st

    from explorer.web.claims_page import show_board
    from tests.support.labelled_report import labelled_board

    show_board(labelled_board(st.session_state["label"]))


def study() -> None:
    """What a study has found."""
    import streamlit as st

    from explorer.web.studies_page import show_record
    from tests.support.labelled_report import labelled_study

    show_record(labelled_study(st.session_state["label"]))


def doctor() -> None:
    """What is installed, and what is stored."""
    import streamlit as st

    from explorer.model.doctor import Check
    from explorer.store.store import Entry
    from explorer.web.doctor_page import show_checks, show_engines, show_store

    label = st.session_state["label"]
    check = Check(name=label, fine=False, found=label, remedy=label, required=True)
    show_checks([check, Check(name="torch", fine=False, found=label, remedy=label)])
    date = "2026-01-01T10:00:00"
    show_store([Entry(label, label, date, date, 9), Entry("card", "b", date, date, 9)], limit=9)
    show_engines()


def address() -> None:
    """The boxes of the sidebar, and what is said of an address that names nothing there is."""
    import streamlit as st

    from explorer.web.report_page import sidebar
    from explorer.web.studies_page import studies

    for name in ("scenario", "device", "order", "study", "on"):
        st.query_params[name] = st.session_state["label"]
    sidebar()
    studies()


PAGES: dict[str, Callable[[], None]] = {
    page.__name__: page
    for page in (semantics, graphs, code, export, claims, study, doctor, address)
}
