"""Runs a study: its questions in workers, then its findings, tables and charts."""

import msgspec

from explorer.exploration.about import stored_versions, versions_here
from explorer.model.errors import UsageError
from explorer.model.measurement import Measured
from explorer.model.study import Chart, StudyRecord, Table
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

    Whatever a framework cannot do is an outcome in the record.
    """
    measured = measure(topic.measurements(target), workers, progress, store)
    return record(topic, target, versions_here(workers, store), measured)


def stored_study(topic: Topic, target: Target, store: Store) -> StudyRecord | None:
    """The record of a study all of which is stored; no worker is started."""
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
