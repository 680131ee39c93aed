"""What an exploration tells before its report is whole, and how it ends on Ctrl-C."""

from explorer.model.report import CaseReport, Report


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an exploration, with the ``report`` on what was there by then."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


def no_report(report: Report) -> None:
    """What is done with the first report where nobody wants it."""


def no_row(case_report: CaseReport) -> None:
    """What is done with a case that is complete where nobody wants it."""
