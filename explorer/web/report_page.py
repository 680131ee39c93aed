"""Pages that show the report chosen in the sidebar, and errors as one message."""

from collections.abc import Callable

import msgspec

from explorer.model.report import Report
from explorer.web.askings import askings, watch
from explorer.web.explorations import ReportKey, ask_report
from explorer.web.messages import say_finding, told_errors
from explorer.web.sidebar import sidebar

ShowReport = Callable[[ReportKey, Report], None]


def report_page(show: ShowReport) -> Callable[[], None]:
    """A page that shows the chosen report, asked as soon as the page is opened."""

    def page() -> None:
        """Show the report, or what kept it from being made."""
        key = sidebar()
        if key is None:
            return
        with told_errors():
            report = watch(ask_report(key, askings()))
            for finding in report.findings:
                say_finding(finding)
            show(key, report)

    page.__name__ = show.__name__  # Streamlit tells pages apart by it
    return page


def graphs_of(key: ReportKey, case: str) -> Report:
    """The report on the graphs of one more case, made when it is first asked for."""
    return watch(ask_report(msgspec.structs.replace(key, case=case), askings()))
