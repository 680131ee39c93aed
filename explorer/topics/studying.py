"""Runs a study: its questions in workers, then its findings, tables and charts."""

from dataclasses import replace

import msgspec

from explorer.exploration.about import about, stored_versions, versions_here
from explorer.model.engines import Framework, framework_of
from explorer.model.errors import UsageError
from explorer.model.measurement import Measured, Measurement
from explorer.model.results import About
from explorer.model.study import Chart, StudyRecord, Table
from explorer.scenario.devices import CPU, assign
from explorer.scenario.find import find
from explorer.store.store import Store
from explorer.topics.evidence import Evidence
from explorer.topics.measuring import measure, stored
from explorer.topics.question import Target
from explorer.topics.topic import Topic
from explorer.workers.queue import Progress, no_progress
from explorer.workers.workers import Workers


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """What a study makes of its evidence: findings (a sentence each, computed), tables, charts."""

    findings: tuple[str, ...]
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]


def target(topic: Topic, scenario: str | None, device: str) -> Target:
    """What the study of ``topic`` is to look at.

    Raises UsageError when a scenario is given to a study that has nets of its own, and for one that
    the study cannot be run on.
    """
    if scenario and topic.default_scenario is None:
        raise UsageError(
            f"the study {topic.name!r} has nets of its own and takes no scenario;"
            f" leave out {scenario!r}"
        )
    chosen = scenario or topic.default_scenario
    file = str(find(chosen)) if chosen else ""
    if file:
        topic.check_scenario(file)
    return Target(file, device)


def study(
    topic: Topic,
    target: Target,
    workers: Workers,
    progress: Progress = no_progress,
    store: Store | None = None,
) -> StudyRecord:
    """The record of one run of a topic's study on ``target``; of what a ``store`` has, no run.

    Whatever a framework cannot do is an outcome in the record. Raises UsageError for a device that
    one of the frameworks cannot use.
    """
    devices = _devices(target.device, workers)
    measurements = [_placed(measurement, devices) for measurement in topic.measurements(target)]
    measured = measure(measurements, workers, progress, store)
    told = replace(target, device=_where(devices) or target.device)
    return record(topic, told, versions_here(workers, store), measured)


def _devices(device: str, workers: Workers) -> dict[Framework, str]:
    """The device of each framework that is here; empty for the CPU, which every one has."""
    if device == CPU:
        return {}
    replies = about(workers).items()
    available = {name: reply.devices for name, reply in replies if isinstance(reply, About)}
    return assign(device, available)


def _placed(measurement: Measurement, devices: dict[Framework, str]) -> Measurement:
    """A measurement on the device that its framework gets."""
    framework = framework_of(measurement.kind)
    if framework not in devices:
        return measurement
    return msgspec.structs.replace(measurement, device=devices[framework])


def _where(devices: dict[Framework, str]) -> str:
    """Where a study was measured: one device, or that of each framework."""
    if len(set(devices.values())) == 1:
        return next(iter(devices.values()))
    return ", ".join(f"{framework} on {device}" for framework, device in devices.items())


def stored_study(topic: Topic, target: Target, store: Store) -> StudyRecord | None:
    """The record of a study all of which is stored; no worker is started.

    None for any device but the CPU: whether it is here, workers say.
    """
    if target.device != CPU:
        return None
    measured = stored(topic.measurements(target), store)
    versions = stored_versions(store)
    if measured is None or versions is None:
        return None
    return record(topic, target, versions, measured)


def record(
    topic: Topic, target: Target, versions: dict[str, str], measured: dict[str, Measured]
) -> StudyRecord:
    """The record of what was measured for a topic's study on ``target``; pure."""
    telling = tell(topic, Evidence(measured, target))
    return StudyRecord(
        study=topic.name,
        title=topic.title,
        question=topic.question,
        scenario=target.name,
        device=target.device,
        versions=versions,
        measured=measured,
        findings=telling.findings,
        tables=telling.tables,
        charts=telling.charts,
    )


def tell(topic: Topic, evidence: Evidence) -> Telling:
    """Everything that a topic makes of some evidence; pure."""
    findings: list[str] = []
    for finding in topic.findings:
        findings.extend(finding(evidence))
    tables: list[Table] = []
    for table in topic.tables:
        tables.extend(table(evidence))
    charts: list[Chart] = []
    for chart in topic.charts:
        charts.extend(chart(evidence))
    return Telling(findings=tuple(findings), tables=tuple(tables), charts=tuple(charts))
