"""Pages that show the chosen report: made if need be, watched, and errors as one message."""

from collections.abc import Callable

import msgspec
import streamlit as st

from explorer.model.errors import ExplorerError, WorkerFaultError
from explorer.model.report import Report
from explorer.report.wording import fault_text
from explorer.web.explorations import ReportKey, explorations, watch
from explorer.web.messages import say_error, say_finding
from explorer.web.sidebar import chosen_report

ShowReport = Callable[[ReportKey, Report], None]


def report_page(show: ShowReport) -> Callable[[], None]:
    """A page that shows the chosen report, once there is one."""

    def page() -> None:
        """Show the report, or what kept it from being made."""
        key = chosen_report()
        if key is None:
            return
        try:
            report = _report(key)
            if report:
                for finding in report.findings:
                    say_finding(finding)
                show(key, report)
        except ExplorerError as error:
            say_error(str(error))
        except WorkerFaultError as error:
            say_error(fault_text(error))

    page.__name__ = show.__name__  # Streamlit tells pages apart by it
    return page


def _report(key: ReportKey) -> Report | None:
    # Only the button starts a run; a visitor who merely looks around costs nothing.
    exploration = explorations().find(key)
    if exploration is None:
        st.info(
            "Press **Run** to ask every case of all four engines. "
            "It takes some seconds; the report is kept."
        )
        return None
    return watch(exploration)


def graphs_of(key: ReportKey, case: str) -> Report:
    """The report on the graphs of one more case, made when it is first asked for."""
    return watch(explorations().ask(msgspec.structs.replace(key, case=case)))
