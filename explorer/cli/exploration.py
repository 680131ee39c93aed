"""Explorations as the commands run them: in workers of their own, with progress."""

from collections.abc import Callable

from explorer.cli import exit_codes
from explorer.cli.options import Plan
from explorer.cli.terminal import display
from explorer.exploration import stored
from explorer.exploration.interim import no_report
from explorer.model.errors import ExplorerError
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.model.results import LOST
from explorer.report.scenario.terminal import case_line
from explorer.store.store import Store, to_stderr
from explorer.text.messages import one_line
from explorer.workers.workers import Workers


class NoGraphError(ExplorerError):
    """An engine that could not capture the case asked for.

    The exit code says whether its worker was lost.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def explored(plan: Plan, show_first: Callable[[Report], None] = no_report) -> Report:
    """The report on a plan; the workers are gone when it is made, also after Ctrl-C.

    ``show_first`` prints the first report, the one on the main case; not of a report that was stored.
    """
    store = Store(fresh=plan.fresh)
    known = stored.stored_report(plan.scenario, plan.wanted, store)
    if known is not None:
        to_stderr("from the store; --fresh asks again")
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
            complete=lambda case_report: shown.add_line(case_line(case_report)),
        )


def graphs_of(report: Report, engine: str) -> list[GradGraph]:
    """An engine's graphs, last stage last, of a report on one case; raises NoGraphError."""
    graphs = [graph for graph in report.graphs if graph.engine == engine]
    if graphs:
        return graphs
    # The reason stands with the graphs that are missing; whether a worker was lost, with the case.
    (case,) = report.cases
    reason = one_line(report.ungraphed.get(engine, "it gave none"))
    is_lost = case.results[engine].outcome in LOST
    raise NoGraphError(
        f"{engine} has no graph of {case.case.label}: {reason}",
        exit_codes.LOST if is_lost else exit_codes.USAGE_ERROR,
    )
