"""The reports of an exploration before it is complete, and its end on Ctrl-C."""

from explorer.model.report import CaseReport, Report


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an exploration, with the ``report`` on the results so far."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


def no_report(report: Report) -> None:
    """The default callback for the first report: ignores it."""


def no_row(case_report: CaseReport) -> None:
    """The default callback for a complete case: ignores it."""
