"""The main job: every case of a scenario answered by every engine, compared, drawn up, aligned."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import msgspec

from explorer.compare.align import align
from explorer.compare.verdicts import judge
from explorer.exploration.about import about_framework
from explorer.model.arrays import pack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES, Framework
from explorer.model.errors import MissingFrameworkError
from explorer.model.graph import GradGraph
from explorer.model.report import CaseReport, Report
from explorer.model.requests import CaseRequest
from explorer.model.results import About, Captured, Failure, Leaf, OracleResult, Result
from explorer.scenario.contract import Scenario
from explorer.scenario.devices import resolve
from explorer.scenario.matrix import cases_of
from explorer.scenario.settling import Nets, settle
from explorer.text.choices import choose
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome, Progress, carry_out, no_progress
from explorer.workers.workers import Workers

NOT_DEFINED = Result(
    outcome="not_defined",
    error=Failure("NotDefined", "the scenario defines no net for this framework"),
)
NO_ORACLE = OracleResult(
    "not_defined",
    error=Failure("NotDefined", "central differences need PyTorch, and a net defined for it"),
)

ORACLE_STAGE = "central differences"
GRAPHS_STAGE = "graphs"
"""The stages of the oracle's work and of the captures; an engine's answers go by its name."""


def explore(
    scenario: Scenario,
    workers: Workers,
    *,
    engines: tuple[str, ...] = tuple(ENGINES),
    device: str = "cpu",
    order: int = 1,
    graphs: bool = True,
    graph_case: str | None = None,
    only_graph_case: bool = False,
    progress: Progress = no_progress,
) -> Report:
    """Ask every case of ``scenario`` of every engine, and report what they say and how it compares.

    ``order`` n adds nested gradients up to order n. ``graph_case`` is the label of the case whose
    graphs are captured (by default the one that asks for most); ``only_graph_case`` asks nothing
    else. ``progress`` is called with a stage, and how much of it is done, from several threads.
    Raises ScenarioError, UsageError or MissingFrameworkError; what frameworks raise is an outcome
    in the report.
    """
    defined = tuple(name for name in engines if scenario.defines(ENGINES[name].framework))
    present = _present(workers, {ENGINES[name].framework for name in defined})
    devices = _devices(device, defined, present)
    nets = settle(scenario, workers, defined, devices)

    cases = cases_of(scenario, bool(nets.trainable), order)
    captured_case = _captured_case(scenario, nets, cases, graph_case)
    if only_graph_case:
        cases = (captured_case,)

    # The oracle runs PyTorch's net, though it judges MindSpore's engines alone where need be.
    jobs = _answers(nets, cases)
    if "torch" in present or _torch_is_there(scenario, workers):
        jobs += _estimates(nets, cases)
    if graphs:
        jobs += _captures(nets, captured_case)
    outcomes = _Outcomes(nets, carry_out(jobs, workers, progress))

    case_reports = _judged(scenario, cases, engines, outcomes)
    captured: dict[str, Captured] = {}
    if graphs:
        captured = {name: outcomes.captured(name) for name in defined}
    return _report(scenario, nets, present, devices, case_reports, captured)


def _present(workers: Workers, frameworks: Iterable[Framework]) -> dict[Framework, About]:
    """The workers' reports on the frameworks needed; MissingFrameworkError without one of these."""
    present: dict[Framework, About] = {}
    for framework in sorted(frameworks):
        about = about_framework(workers, framework)
        if isinstance(about, Failure):
            raise MissingFrameworkError(f"{framework} cannot be used: {about.message}")
        present[framework] = about
    return present


def _devices(
    device: str, engines: Iterable[str], present: Mapping[Framework, About]
) -> dict[str, str]:
    """The device that each engine gets for the one that was asked for."""
    devices: dict[str, str] = {}
    for name in engines:
        framework = ENGINES[name].framework
        devices[name] = resolve(device, framework, present[framework].devices)
    return devices


def _torch_is_there(scenario: Scenario, workers: Workers) -> bool:
    """Whether the oracle can judge engines none of which is PyTorch's."""
    return scenario.defines("torch") and isinstance(about_framework(workers, "torch"), About)


def widest(floating: tuple[bool, ...], outputs: int, weights: bool) -> GradCase:
    """The case that asks for most: every floating input, all weights.

    Of several ``outputs`` the first alone is differentiated. ``floating`` says of each input
    whether it is of a floating dtype.
    """
    # An integer has no gradient: PyTorch refuses to be asked for one.
    indices = tuple(index for index, is_floating in enumerate(floating) if is_floating)
    position = indices[0] if len(indices) == 1 else indices or None
    return GradCase("grad", position, "all" if weights else None, outputs > 1)


def _captured_case(
    scenario: Scenario, nets: Nets, cases: tuple[GradCase, ...], label: str | None
) -> GradCase:
    if label is None:
        return _widest_asked(scenario, nets, cases)
    by_label = {case.label: case for case in cases}
    return by_label[choose("case", label, by_label)]


def _widest_asked(scenario: Scenario, nets: Nets, cases: tuple[GradCase, ...]) -> GradCase:
    """The case that asks for most; where a scenario's CASES leave it out, the one nearest to it."""
    floating = []
    for name, array in scenario.inputs().items():
        floating.append(array.dtype.kind == "f" and name not in scenario.constants)
    wanted = widest(tuple(floating), nets.outputs, bool(nets.trainable))
    if scenario.cases is None or wanted in cases:
        return wanted
    return max(cases, key=lambda case: _likeness(case, wanted))


def _likeness(case: GradCase, wanted: GradCase) -> tuple[bool, int, bool]:
    """The likeness of a case to another; of more similar ones the tuple is greater."""
    asked_for = {*case.positions, *([case.weights] if case.weights else [])}
    wanted_for = {*wanted.positions, *([wanted.weights] if wanted.weights else [])}
    return case.order == 1, len(asked_for & wanted_for), case.has_aux == wanted.has_aux


# A framework whose worker was lost at the first look is asked nothing more: a net that kills its
# worker, or outlives its time, would do so once a case. All its answers are that first loss.


def _answers(nets: Nets, cases: tuple[GradCase, ...]) -> list[Job]:
    """Every case, to every engine; an engine's cases are shared among its workers."""
    jobs = []
    for name, net in nets.requests.items():
        engine = ENGINES[name]
        if engine.framework in nets.lost:
            continue
        for index, case in enumerate(cases):
            jobs.append(
                Job(
                    key=("answer", name, index),
                    stage=name,
                    kinds=engine.answers_in,
                    target=f"{engine.module}:answer",
                    request=CaseRequest(net, case),
                    reply=Result,
                )
            )
    return jobs


def _estimates(nets: Nets, cases: tuple[GradCase, ...]) -> list[Job]:
    """Every case, to the oracle, which runs PyTorch's net on the CPU whatever the device."""
    if "torch" in nets.lost:
        return []
    # Any engine's request will do: they start alike.
    any_net = next(iter(nets.requests.values()))
    net = msgspec.structs.replace(any_net, engine="torch-tape", device="cpu")
    jobs = []
    for index, case in enumerate(cases):
        jobs.append(
            Job(
                key=("estimate", index),
                stage=ORACLE_STAGE,
                kinds=("torch",),
                target="explorer.engines.oracle:estimate",
                request=CaseRequest(net, case),
                reply=OracleResult,
            )
        )
    return jobs


def _captures(nets: Nets, case: GradCase) -> list[Job]:
    """One case's graphs, of every engine."""
    jobs = []
    for name, net in nets.requests.items():
        engine = ENGINES[name]
        if engine.framework in nets.lost:
            continue
        jobs.append(
            Job(
                key=("capture", name),
                stage=GRAPHS_STAGE,
                kinds=(engine.captures_in,),
                target=f"{engine.module}:capture",
                request=CaseRequest(net, case),
                reply=Captured,
            )
        )
    return jobs


class _Outcomes:
    """The outcomes of the jobs, as the records that a report holds.

    Raises MissingFrameworkError where a framework has gone missing in the middle of the work.
    """

    def __init__(self, nets: Nets, by_key: Mapping[Any, JobOutcome]) -> None:
        self._nets = nets
        self._by_key = by_key

    def result(self, name: str, index: int) -> Result:
        """An engine's answer to the case at ``index``."""
        if name not in self._nets.requests:
            return NOT_DEFINED
        reply = self._reply(ENGINES[name].framework, ("answer", name, index))
        if isinstance(reply, Lost):
            return Result(outcome=reply.outcome, error=reply.failure)
        result: Result = reply
        return result

    def estimate(self, index: int) -> OracleResult:
        """The oracle's answer to the case at ``index``."""
        # The engines' own answers say already how PyTorch's worker was lost.
        if "torch" in self._nets.lost:
            return OracleResult(self._nets.lost["torch"].outcome)
        if ("estimate", index) not in self._by_key:
            return NO_ORACLE
        reply = self._reply("torch", ("estimate", index))
        if isinstance(reply, Lost):
            return OracleResult(reply.outcome, error=reply.failure)
        estimate: OracleResult = reply
        return estimate

    def captured(self, name: str) -> Captured:
        """An engine's graphs; none, with the reason in the result, when it could not capture."""
        reply = self._reply(ENGINES[name].framework, ("capture", name))
        if isinstance(reply, Lost):
            return Captured((), Result(outcome=reply.outcome, error=reply.failure))
        captured: Captured = reply
        return captured

    def _reply(self, framework: Framework, key: Any) -> Any:
        """The reply of a job's target, or the loss of its worker, at the first look or later."""
        if framework in self._nets.lost:
            return self._nets.lost[framework]
        outcome = self._by_key[key]
        if isinstance(outcome, MissingFrameworkError):
            raise outcome
        return outcome


def _judged(
    scenario: Scenario,
    cases: tuple[GradCase, ...],
    engines: tuple[str, ...],
    outcomes: _Outcomes,
) -> list[CaseReport]:
    """Every case with the results of all ``engines``, and the verdict on them."""
    # Engines without a net take part as well: a report says of all that were asked for.
    reports = []
    for index, case in enumerate(cases):
        results = {name: outcomes.result(name, index) for name in engines}
        reports.append(judge(case, results, outcomes.estimate(index), scenario.expected))
    return reports


def _report(
    scenario: Scenario,
    nets: Nets,
    present: Mapping[Framework, About],
    devices: dict[str, str],
    cases: list[CaseReport],
    captured: Mapping[str, Captured],
) -> Report:
    versions: dict[str, str] = {}
    for about in present.values():
        versions.update(about.versions)
    graphs: list[GradGraph] = []
    last_stages: list[GradGraph] = []
    ungraphed: dict[str, str] = {}
    for name, capture in captured.items():
        graphs += capture.graphs
        last_stages += capture.graphs[-1:]
        if capture.result.error:
            ungraphed[name] = capture.result.error.message
    # Earlier stages are not run: their nodes have no values by which they could be paired.
    alignments = tuple(align(left, right) for left, right in combinations(last_stages, 2))
    return Report(
        scenario=scenario.name,
        title=scenario.title,
        notes=scenario.notes,
        versions=versions,
        devices=devices,
        inputs=tuple(Leaf(name, pack(array)) for name, array in scenario.inputs().items()),
        parameters=tuple(Leaf(name, array) for name, array in nets.parameters.items()),
        findings=nets.findings,
        cases=tuple(cases),
        graphs=tuple(graphs),
        ungraphed=ungraphed,
        alignments=alignments,
    )
