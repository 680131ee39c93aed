"""Runs a study: its questions in workers, then its findings, tables and charts."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

import msgspec

from explorer.environments.known import in_use
from explorer.exploration.installed import STARTING, about, stored_versions, versions_here
from explorer.model.engines import FRAMEWORKS, NEEDED, Framework, framework_of
from explorer.model.errors import ScenarioError, UsageError
from explorer.model.measurement import Measured, Measurement
from explorer.model.message import Text
from explorer.model.message import message as untranslated
from explorer.model.requests import Description
from explorer.model.results import About
from explorer.model.study import Chart, StudyRecord, Table, W
from explorer.scenario.common_start import first_look, looking, refuse_raised
from explorer.scenario.correspondence import is_weight, lone
from explorer.scenario.declaration import ExpectedDifference
from explorer.scenario.devices import CPU, assign
from explorer.scenario.find import find
from explorer.scenario.reader import read
from explorer.store.store import Store
from explorer.text.failures import message
from explorer.text.language import _, named
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure, stored
from explorer.topics.question import LOOKED_AT, Question, Target
from explorer.topics.topic import Topic
from explorer.workers.queue import Job, Progress, carry_out, no_progress
from explorer.workers.workers import Workers

Item = TypeVar("Item")

FEW_NAMES = 3
"""So many names are listed at most."""


class Telling(msgspec.Struct, Generic[W], frozen=True, kw_only=True):
    """What a study makes of its evidence: findings (a sentence each, computed), tables, charts."""

    findings: tuple[W, ...]
    tables: tuple[Table[W], ...]
    charts: tuple[Chart[W], ...]


def target(topic: Topic, scenario: str | None, device: str) -> Target:
    """What the study of ``topic`` is to look at.

    Raises UsageError when a scenario is given to a study that has nets of its own, and for one that
    the study cannot be run on; ScenarioError for a file that cannot be read.
    """
    if scenario is not None and topic.default_scenario is None:
        text = _(
            "the study {study!r} has nets of its own and takes no scenario; leave out {scenario!r}"
        )
        raise UsageError(text, study=topic.name, scenario=scenario)
    chosen = topic.default_scenario if scenario is None else scenario
    if chosen is None:
        return Target("", device)
    file = str(find(chosen))
    read(file)
    topic.check_scenario(file)
    return Target(file, device)


def study(
    topic: Topic,
    target: Target,
    workers: Workers,
    progress: Progress = no_progress,
    store: Store | None = None,
) -> StudyRecord[Text]:
    """The record of one run of a topic's study on ``target``; of what a ``store`` has, no run.

    Whatever a framework cannot do is an outcome in the record. Raises UsageError for a device that
    one of the frameworks cannot use, and ScenarioError for a scenario whose net raises.
    """
    devices = _devices(target.device, workers)
    wanted = asked(topic, target, in_use())
    measurements = [_placed(measurement, devices) for measurement in wanted]
    is_stored = store is not None and stored(measurements, store) is not None
    if target.scenario and not is_stored:
        looks = looked_at(target.scenario, devices, workers, progress)
        if topic.starts_by_names:
            refuse_other_names(topic, target.scenario, looks)
    measured = measure(measurements, workers, progress, store)
    told = replace(target, device=_where(devices) or target.device)
    versions = versions_here(workers, store, frameworks=frameworks_of(wanted))
    return record(topic, told, versions, measured)


def asked(topic: Topic, target: Target, frameworks: Collection[str]) -> list[Measurement]:
    """The measurements of a topic's study on ``target`` that are made in some frameworks."""
    wanted = topic.measurements(target)
    return [each for each in wanted if framework_of(each.kind) in frameworks]


def frameworks_of(measurements: Iterable[Measurement]) -> list[Framework]:
    """The frameworks that every study names, and those that some measurements are made in."""
    used = {framework_of(each.kind) for each in measurements}
    return [name for name in FRAMEWORKS if name in NEEDED or name in used]


def _devices(device: str, workers: Workers) -> dict[Framework, str]:
    """The device of each framework that is here; empty for the CPU, which every one has."""
    if device == CPU:
        return {}
    replies = about(workers, {name: name for name in NEEDED}).items()
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


def stored_study(topic: Topic, target: Target, store: Store) -> StudyRecord[Text] | None:
    """The record of a study all of which is stored; no worker is started.

    None for any device but the CPU: whether it is here, workers say.
    """
    if target.device != CPU:
        return None
    wanted = asked(topic, target, in_use())
    measured = stored(wanted, store)
    versions = stored_versions(store, frameworks=frameworks_of(wanted))
    if measured is None or versions is None:
        return None
    return record(topic, target, versions, measured)


def record(
    topic: Topic, target: Target, versions: dict[str, str], measured: dict[str, Measured]
) -> StudyRecord[Text]:
    """The record of what was measured for a topic's study on ``target``; pure."""
    telling = tell(topic, Evidence(measured, target))
    return StudyRecord[Text](
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


NET_RAISES = ScenarioError.__name__
"""The error of a measurement whose every case the net raises in.

Any other may come from how a study looks: PyTorch 2.13 has no saved tensor hooks under torch.func.
"""


def refused_by_some(topic: Topic, target: Target, record: StudyRecord[Text]) -> dict[str, str]:
    """What the nets raise for a party that is not expected to differ from one that answers.

    By the measurements' names; empty where all have answered, or nobody has.
    """
    if not target.scenario:
        return {}
    expected = read(target.scenario).expected
    refused: dict[str, str] = {}
    for question in topic.questions.values():
        if question.scenario != LOOKED_AT:
            continue
        fine, raised = (_parties(question, record, outcome) for outcome in ("ok", "raised"))
        for party, (name, measured) in raised.items():
            foreseen = [_is_foreseen(party, other, expected) for other in fine]
            error = measured.error
            if error and error.type == NET_RAISES and not all(foreseen):
                refused[name] = message(error)
    return refused


def _parties(
    question: Question, record: StudyRecord[Text], outcome: str
) -> dict[str, tuple[str, Measured]]:
    """The parties whose measurement ended in an outcome, with its name."""
    parties: dict[str, tuple[str, Measured]] = {}
    for party in question.asks:
        name = question.measurement_name(party)
        measured = record.measured.get(name)
        if measured is not None and measured.outcome == outcome:
            parties[party] = (name, measured)
    return parties


def _is_foreseen(one: str, other: str, expected: Iterable[ExpectedDifference]) -> bool:
    return any(entry.covers(one) != entry.covers(other) for entry in expected)


def tell(topic: Topic, evidence: Evidence) -> Telling[Text]:
    """Everything that a topic makes of some evidence; pure."""
    untold: list[Text] = []
    findings = _told(topic.findings, evidence, untold)
    tables = _told(topic.tables, evidence, untold)
    charts = _told(topic.charts, evidence, untold)
    return Telling(findings=(*findings, *untold), tables=tuple(tables), charts=tuple(charts))


def _told(
    functions: Iterable[Callable[[Evidence], Iterable[Item]]],
    evidence: Evidence,
    untold: list[Text],
) -> list[Item]:
    """All that some functions make of the evidence; into ``untold``, why one of them makes nothing.

    Another version may give an answer that a function does not know.
    """
    items: list[Item] = []
    for function in functions:
        items += _made(function, evidence, untold)
    return items


def _made(
    function: Callable[[Evidence], Iterable[Item]], evidence: Evidence, untold: list[Text]
) -> list[Item]:
    try:
        return list(function(evidence))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        untold.append(untranslated("cells.untold", error=reason))
        return []


def looked_at(
    file: str, devices: Mapping[Framework, str], workers: Workers, progress: Progress
) -> dict[Framework, Description]:
    """Run the forward of each net in a scenario's file once; raises ScenarioError as a comparison does.

    A framework that is missing, or whose worker is lost, says nothing here: its measurements will.
    """
    looks: dict[Framework, Description] = {}
    scenario = read(file)
    jobs = []
    for framework in filter(scenario.defines, reversed(NEEDED)):
        target, request = first_look(scenario.path, looking(framework), devices.get(framework, CPU))
        jobs.append(Job(framework, STARTING, (framework,), target, request, Description))
    for framework, outcome in carry_out(jobs, workers, progress).items():
        if isinstance(outcome, Description):
            refuse_raised(scenario, framework, outcome)
            looks[framework] = outcome
    return looks


def refuse_other_names(topic: Topic, file: str, looks: Mapping[Framework, Description]) -> None:
    """Raises ScenarioError where a weight of one net has a name that none of the other net's has.

    Both would start from values of their own, and everything would seem to differ.
    """
    if len(looks) < len(NEEDED):
        return
    mindspore, torch = looks["mindspore"], looks["torch"]
    mine = [spec.name for spec in lone(mindspore, torch) if is_weight(spec)]
    theirs = [spec.name for spec in lone(torch, mindspore) if is_weight(spec)]
    if mine or theirs:
        text = _(
            "{file}: the study {study!r} pairs parameters by their names alone, and here only"
            " MindSpore's net has {mine}, and only PyTorch's {theirs}; declare the pairs in"
            " PARAMETER_NAMES, or compare the nets with scenario --order 2, which finds them"
        )
        raise ScenarioError(
            text, file=read(file).place, study=topic.name, mine=_first(mine), theirs=_first(theirs)
        )


def _first(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    if not names:
        return _("none that the other lacks")
    if len(names) <= FEW_NAMES:
        return named(names)
    text = _("{names} and {n} more")
    return text.format(names=named(names[:FEW_NAMES]), n=len(names) - FEW_NAMES)
