"""Explorations as the commands run them: in their own workers, with progress."""

from collections.abc import Callable

from explorer.blocks.terminal import line
from explorer.cli.options import Plan
from explorer.cli.terminal import display
from explorer.exploration import stored
from explorer.exploration.options import no_report
from explorer.model.report import Report
from explorer.report.scenario.page import case_line
from explorer.store.store import Store, to_stderr
from explorer.workers.workers import Workers


def explored(plan: Plan, show_first: Callable[[Report], None] = no_report) -> Report:
    """The report on a plan; its workers have ended when it is complete, also after Ctrl-C.

    ``show_first`` prints the first report, the one on the main case; not of a report that was stored.
    """
    store = Store(fresh=plan.fresh)
    known = stored.stored_report(plan.scenario, plan.wanted, store)
    if known is not None:
        to_stderr("stored result shown; --fresh runs it again")
        return known
    with Workers(plan.request_timeout, plan.timeout) as workers, display() as shown:

        def first(report: Report) -> None:
            with shown.out_of_the_way():
                show_first(report)

        return stored.explored(
            plan.scenario,
            plan.wanted,
            workers,
            store,
            progress=shown.step,
            first=first,
            complete=lambda case_report: shown.add_line(line(case_line(case_report))),
        )
