"""Reports on scenarios as visitors ask for them."""

from pathlib import Path

import msgspec

from explorer.exploration.options import Wanted
from explorer.exploration.stored import explored, stored_report
from explorer.model.report import CaseReport, Report
from explorer.store.store import Store
from explorer.web.asking import Asking
from explorer.web.askings import Askings
from explorer.web.offered_scenarios import scenario
from explorer.workers.workers import Workers


class ReportKey(msgspec.Struct, frozen=True):
    """The key of a report: everything that it depends on.

    ``digest`` is that of the scenario file's text. With the label of a ``case``, only its graphs
    are asked for.
    """

    path: Path
    digest: str
    device: str = "cpu"
    order: int = 1
    case: str | None = None


def ask_report(key: ReportKey, askings: Askings) -> Asking[Report]:
    """The question for a report, asked at once."""
    wanted = Wanted(
        device=key.device,
        order=key.order,
        graph_case=key.case,
        # As the shell asks: what one has asked, the other has at once.
        selection="main" if key.case else None,
    )

    def make(workers: Workers, asking: Asking[Report]) -> Report:
        def row(case: CaseReport) -> None:
            # The graphs are there from the first part on.
            if asking.partial:
                cases = (*asking.partial.cases, case)
                asking.tell(msgspec.structs.replace(asking.partial, cases=cases))

        return explored(
            scenario(key.path),
            wanted,
            workers,
            Store(),
            progress=asking.step,
            first=asking.tell,
            complete=row,
        )

    def stored() -> Report | None:
        return stored_report(scenario(key.path), wanted, Store())

    return askings.ask(key, stored, make)
