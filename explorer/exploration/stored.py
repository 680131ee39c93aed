"""Explorations that are asked of the store first."""

from collections.abc import Callable, Mapping

import msgspec

from explorer.exploration.options import Wanted, no_report, no_row
from explorer.model.engines import Framework
from explorer.model.errors import ScenarioError
from explorer.model.report import CaseReport, Report
from explorer.model.results import LOST
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import AUTO
from explorer.scenario.find import CHANGED, files_read, has_changed
from explorer.store.keys import Key, key_of
from explorer.store.store import Store
from explorer.text.language import _
from explorer.workers.queue import Progress, no_progress
from explorer.workers.workers import Workers


def key(
    scenario: Declaration,
    wanted: Wanted,
    best: Mapping[Framework, str] | None = None,
    files: Mapping[str, str] | None = None,
) -> Key:
    """The key of a scenario's report.

    ``best`` are the devices that stand for "auto" here; ``files`` are the scenario's, where they
    are read already.
    """
    files = files_read(scenario.path) if files is None else files
    parts = (files, wanted, *((best,) if best else ()))
    return key_of("scenario", scenario.name, *parts)


def stored_report(scenario: Declaration, wanted: Wanted, store: Store) -> Report | None:
    """The report if it was made before; no worker is started for it.

    None for the device "auto": which devices there are now, workers say.
    """
    if wanted.device == AUTO:
        return None
    return store.get(key(scenario, wanted), Report)


def explored(
    scenario: Declaration,
    wanted: Wanted,
    workers: Workers,
    store: Store,
    *,
    progress: Progress = no_progress,
    first: Callable[[Report], None] = no_report,
    complete: Callable[[CaseReport], None] = no_row,
) -> Report:
    """The report on a scenario: from the store, else from explore(), which says what it raises.

    Where another process makes the same report, it is waited for. Of a report from the store
    ``first`` and ``complete`` hear nothing. One in which a worker was lost or that ran out of time
    is not kept: the next one may be whole. Raises ScenarioError where a file of the scenario was
    changed meanwhile: each worker has run what it read.
    """
    # Here: what is stored is told without all that compares, a quarter of the time to an answer.
    from explorer.exploration.explore import devices_of, explore

    files = files_read(scenario.path)
    best = devices_of(scenario, wanted.engines, AUTO, workers) if wanted.device == AUTO else None
    its_key = key(scenario, wanted, best, files)
    with store.turn(its_key):
        report = store.get(its_key, Report)
        if report is None:
            report = explore(
                scenario,
                workers,
                **msgspec.structs.asdict(wanted),  # its fields are named as explore() takes them
                progress=progress,
                first=first,
                complete=complete,
            )
            if has_changed(scenario.path, files):
                raise ScenarioError(f"{scenario.place}: {_(CHANGED)}")
            if is_whole(report):
                store.put(its_key, report)
    return report


def is_whole(report: Report) -> bool:
    """Whether nothing is missing from a report that another run might bring."""
    if any(left_out.cause != "selected" for left_out in report.left_out):
        return False
    if any(finding.kind == "noise" for finding in report.findings):
        return False
    for case in report.cases:
        outcomes = [result.outcome for result in case.results.values()]
        if case.oracle:
            outcomes.append(case.oracle.outcome)
        if any(outcome in LOST for outcome in outcomes):
            return False
    # What has a gradient has a graph, unless the worker that was to capture it was lost.
    return not report.ungraphed
