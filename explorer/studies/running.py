"""Runs a study: its measurements in workers, then what they tell."""

from explorer.errors import UsageError
from explorer.explore import about
from explorer.measuring import Evidence, Progress, measure
from explorer.records import About
from explorer.scenario import find
from explorer.studies.records import Study, StudyRecord, Target
from explorer.worker import Workers


def target(study: Study, scenario: str | None, device: str) -> Target:
    """What ``study`` is to look at; raises UsageError when a scenario is given to a study that has nets of its own."""
    if scenario and study.default_scenario is None:
        raise UsageError(f"the study {study.name!r} has nets of its own and takes no scenario; leave out {scenario!r}")
    chosen = scenario or study.default_scenario
    return Target(str(find(chosen)) if chosen else "", device)


def run(
    study: Study,
    target: Target,
    workers: Workers,
    progress: Progress = lambda stage, done, total: None,
) -> StudyRecord:
    """The record of one run of ``study`` on ``target``; what a framework cannot do is an outcome in it."""
    found = about(workers)
    measured = measure(study.measurements(target), workers, progress)
    telling = study.tell(Evidence(measured))
    return StudyRecord(
        study=study.name,
        title=study.title,
        question=study.question,
        scenario=target.scenario.rpartition("/")[2].removesuffix(".py"),
        device=target.device,
        versions={name: version for each in found.values() if isinstance(each, About) for name, version in each.versions.items()},
        measured=measured,
        findings=telling.findings,
        tables=telling.tables,
        charts=telling.charts,
    )
