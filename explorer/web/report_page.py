"""Pages that show the report chosen in the sidebar, and errors as one message."""

from collections.abc import Callable

import msgspec
import streamlit as st

from explorer.exploration.stored import is_whole
from explorer.model.report import Report
from explorer.text.language import _
from explorer.web.asking import Asking
from explorer.web.askings import askings
from explorer.web.explorations import ReportKey, ask_report
from explorer.web.messages import say_finding, told_errors
from explorer.web.offered_scenarios import digest_of_file
from explorer.web.sidebar import sidebar
from explorer.web.watching import Watch, run_again, watch

ShowReport = Callable[[ReportKey, Report], None]


def report_page(show: ShowReport, *, by_row: bool = False) -> Callable[[], None]:
    """A page that shows the chosen report, asked as soon as the page is opened.

    It shows what is known as soon as there is anything, and ``by_row`` also each row that comes.
    """

    def page() -> None:
        """Show the report, or what kept it from being made."""
        key = sidebar()
        if key is None:
            return
        with told_errors():
            asking = ask_report(key, askings())
            shown = asking.parts if by_row else None
            waiting = Watch(asking, lambda: digest_of_file(key.path) != key.digest)
            report = waiting.part()
            # It may become whole while the page shows a part of it.
            is_all = report is asking.answer
            if is_all and not is_whole(report):
                _say_lost(asking)
            for finding in report.findings:
                say_finding(finding)
            show(key, report)
            if not is_all:
                waiting.stay(shown)

    page.__name__ = show.__name__  # Streamlit tells pages apart by it
    return page


def _say_lost(asking: Asking[Report]) -> None:
    """Say that answers were lost, and how to ask once more."""
    st.warning(
        _("Answers are missing: a worker process died or ran out of time. A new one stands ready.")
    )
    run_again(askings().forget, asking)


def graphs_of(key: ReportKey, case: str) -> Report:
    """The report on the graphs of one more case, made when it is first asked for."""
    return watch(ask_report(msgspec.structs.replace(key, case=case), askings()))
