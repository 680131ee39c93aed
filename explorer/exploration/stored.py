"""Explorations that are asked of the store first."""

from collections.abc import Callable, Mapping

import msgspec

from explorer.exploration.large_nets import Demand, FirstAnswer
from explorer.exploration.options import Wanted, ignored
from explorer.model.engines import WorkerKind
from explorer.model.errors import ScenarioError
from explorer.model.failures import Failure
from explorer.model.findings import NoiseUnknown
from explorer.model.report import CaseReport, Report
from explorer.model.results import LOST, Outcome
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import AUTO
from explorer.scenario.find import CHANGED, files_read, has_changed
from explorer.scenario.replies import KeptReplies, is_of_environment
from explorer.store.keys import Key, key_of
from explorer.store.store import Store
from explorer.text.language import _
from explorer.workers.queue import Progress, no_progress
from explorer.workers.workers import REQUEST_SECONDS, Workers

TIMED_OUT: Outcome = "timed_out"
"""The type of the error where a worker was lost to its time limit."""


def key(
    scenario: Declaration,
    wanted: Wanted,
    best: Mapping[WorkerKind, str] | None = None,
    files: Mapping[str, str] | None = None,
) -> Key:
    """The key of a scenario's report.

    ``best`` are the devices that stand for "auto" here; ``files`` are the scenario's, where they
    are read already.
    """
    files = files_read(scenario.path) if files is None else files
    parts = (files, wanted, *((best,) if best else ()))
    return key_of("scenario", scenario.name, *parts, engines=wanted.engines)


def partial_key(whole: Key, seconds: float) -> Key:
    """The key of a report in which something took longer than the limit of one request.

    With another limit it is made again.
    """
    return key_of(whole.kind, whole.name, whole.digest, str(seconds))


def stored_report(
    scenario: Declaration, wanted: Wanted, store: Store, seconds: float = REQUEST_SECONDS
) -> Report | None:
    """The report if it was made before; no worker is started for it.

    Of one that lacks something, which took longer than ``seconds``, the rest is not asked again. None
    for the device "auto": which devices there are now, workers say.
    """
    if wanted.device == AUTO:
        return None
    return _stored(key(scenario, wanted), store, seconds)


def forget_partial(
    scenario: Declaration, wanted: Wanted, store: Store, seconds: float = REQUEST_SECONDS
) -> None:
    """Have the rest of a report asked again that took longer than ``seconds``."""
    if wanted.device != AUTO:
        store.remove(partial_key(key(scenario, wanted), seconds))


def _stored(whole: Key, store: Store, seconds: float) -> Report | None:
    report = store.get(whole, Report)
    if report is None:
        report = store.get(partial_key(whole, seconds), Report)
    return report


def explored(
    scenario: Declaration,
    wanted: Wanted,
    workers: Workers,
    store: Store,
    *,
    progress: Progress = no_progress,
    before: Callable[[Demand], None] = ignored,
    early: Callable[[FirstAnswer], None] = ignored,
    first: Callable[[Report], None] = ignored,
    complete: Callable[[CaseReport], None] = ignored,
) -> Report:
    """The report on a scenario: from the store, else from explore(), which says what it raises.

    Of what has to be explored, the store's replies are not asked of workers again.

    Where another process makes the same report, it is waited for. Of a report from the store
    no callback hears anything. One in which a worker was lost, or that lacked time, memory or a
    package, is not kept: the next one may be whole. One that lacks only what stands beside the
    engines' results is kept for the same limit of one request. Raises ScenarioError where a file
    of the scenario was changed meanwhile: each worker has run what it read.
    """
    # Here: what is stored is told without all that compares, a quarter of the time to an answer.
    from explorer.exploration.explore import devices_of, explore

    files = files_read(scenario.path)
    best = devices_of(scenario, wanted.engines, AUTO, workers) if wanted.device == AUTO else None
    its_key = key(scenario, wanted, best, files)
    with store.turn(its_key):
        report = _stored(its_key, store, workers.request_seconds)
        if report is None:
            report = explore(
                scenario,
                workers.keeping(KeptReplies(store)),
                **msgspec.structs.asdict(wanted),  # its fields are named as explore() takes them
                progress=progress,
                before=before,
                early=early,
                first=first,
                complete=complete,
            )
            if has_changed(scenario.path, files):
                raise ScenarioError(f"{scenario.place}: {_(CHANGED)}")
            if is_whole(report):
                store.put(its_key, report)
            elif has_all_results(report) and lacks_only_time(report):
                store.put(partial_key(its_key, workers.request_seconds), report)
    return report


def is_whole(report: Report) -> bool:
    """Whether nothing is missing from a report that another run might bring."""
    is_lost = _errors_of_noise(report) or any(it.oracle.outcome in LOST for it in report.cases)
    return not is_lost and has_all_results(report)


def lacks_only_time(report: Report) -> bool:
    """Whether all that is missing beside the engines' results took too long; no worker died."""
    has_died = any(case.oracle.outcome == "crashed" for case in report.cases)
    return not has_died and all(it.type == TIMED_OUT for it in _errors_of_noise(report))


def _errors_of_noise(report: Report) -> list[Failure]:
    """Why noise was not measured that another run may measure."""
    facts = [finding.fact for finding in report.findings]
    errors = [fact.error for fact in facts if isinstance(fact, NoiseUnknown)]
    return [error for error in errors if error.kind != "older_version"]


def has_all_results(report: Report) -> bool:
    """Whether every engine has its results and graphs; noise and central differences may be missing.

    A net that raises has raised: that is a result like any other, unless another time or another
    machine may be kinder to it.
    """
    if any(left_out.cause != "selected" for left_out in report.left_out) or report.lost_graphs:
        return False
    errors: list[Failure] = []
    raising: set[str] = set()
    for case in report.cases:
        for name, result in case.results.items():
            if result.outcome in LOST:
                return False
            if result.outcome == "raised":
                raising.add(name)
            if result.error:
                errors.append(result.error)
    for name, ungraphed in report.ungraphed.items():
        if not ungraphed.error.kind and name not in raising:
            return False  # its net runs, and there is no graph for no reason that is known
        errors.append(ungraphed.error)
    return not any(map(is_of_environment, errors))
