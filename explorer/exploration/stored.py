"""Explorations that are asked of the store first."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from explorer.exploration.options import SILENT, Callbacks, Wanted
from explorer.model.engines import WorkerKind
from explorer.model.errors import ScenarioError
from explorer.model.findings import NoiseUnknown
from explorer.model.report import Report
from explorer.model.results import LOST
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import AUTO
from explorer.scenario.find import CHANGED, files_read, has_changed
from explorer.scenario.replies import KeptReplies, is_of_environment
from explorer.store.keys import Key, key_of
from explorer.store.store import Store
from explorer.text.language import _
from explorer.workers.workers import REQUEST_SECONDS, Workers


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
    return None if wanted.device == AUTO else _stored(key(scenario, wanted), store, seconds)


def forget_partial(
    scenario: Declaration, wanted: Wanted, store: Store, seconds: float = REQUEST_SECONDS
) -> None:
    """Have the rest of a report asked again that took longer than ``seconds``."""
    if wanted.device != AUTO:
        store.remove(partial_key(key(scenario, wanted), seconds))


def _stored(whole: Key, store: Store, seconds: float) -> Report | None:
    return store.get(whole, Report) or store.get(partial_key(whole, seconds), Report)


def explored(
    scenario: Declaration,
    wanted: Wanted,
    workers: Workers,
    store: Store,
    callbacks: Callbacks = SILENT,
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
                callbacks=callbacks,
            )
            if has_changed(scenario.path, files):
                raise ScenarioError(f"{scenario.place}: {_(CHANGED)}")
            lacking = lack_of(report)
            if not lacking:
                store.put(its_key, report)
            elif lacking == "time":
                store.put(partial_key(its_key, workers.request_seconds), report)
    return report


Lack = Literal["", "time", "more"]
"""What a report lacks that another run might bring.

"": nothing. "time": every engine has its results and graphs, and what is missing beside them, noise or
central differences, took too long. "more": a worker died, or a result or a graph is missing.
"""


def lack_of(report: Report) -> Lack:
    """What a report lacks that another run might bring.

    A net that raises has raised: that is a result like any other, unless another time or another
    machine may be kinder to it.
    """
    if any(left_out.cause != "selected" for left_out in report.left_out) or report.lost_graphs:
        return "more"
    results = [item for case in report.cases for item in case.results.items()]
    raising = {name for name, result in results if result.outcome == "raised"}
    errors = [result.error for _, result in results if result.error]
    for name, ungraphed in report.ungraphed.items():
        if not ungraphed.error.kind and name not in raising:
            return "more"  # its net runs, and there is no graph for no reason that is known
        errors.append(ungraphed.error)
    if any(it.outcome in LOST for _, it in results) or any(map(is_of_environment, errors)):
        return "more"
    beside: list[str] = [it.oracle.outcome for it in report.cases if it.oracle.outcome in LOST]
    unknown = [it.fact.error for it in report.findings if isinstance(it.fact, NoiseUnknown)]
    beside += [error.type for error in unknown if error.kind != "older_version"]
    if not beside:
        return ""
    return "time" if set(beside) == {"timed_out"} else "more"
