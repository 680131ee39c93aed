"""The main job: a scenario's cases answered by every engine, compared, captured as graphs, and
aligned.
"""

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
from explorer.model.report import CaseReport, Report
from explorer.model.requests import CaseRequest
from explorer.model.results import About, Captured, Failure, Leaf, OracleResult, Result
from explorer.scenario.contract import Scenario
from explorer.scenario.devices import resolve
from explorer.scenario.matrix import matrix
from explorer.scenario.settling import Nets, settle
from explorer.text.choices import choose
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, Outcome, Progress, carry_out, no_progress
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
"""What progress calls the oracle's work."""


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
    devices: dict[str, str] = {}
    for name in defined:
        framework = ENGINES[name].framework
        devices[name] = resolve(device, framework, present[framework].devices)
    nets = settle(scenario, workers, defined, devices)

    cases = matrix(len(scenario.inputs()), bool(nets.trainable), order)
    captured_case = _captured_case(scenario, nets, cases, graph_case)
    if only_graph_case:
        cases = (captured_case,)
    asking = _Asking(nets, cases, captured_case)
    jobs = asking.answers()
    if "torch" in present or _torch_is_there(scenario, workers):
        jobs += asking.estimates()
    if graphs:
        jobs += asking.captures()
    outcomes = carry_out(jobs, workers, progress)

    reports = []
    for index, case in enumerate(cases):
        results = {name: asking.result(outcomes, name, index) for name in engines}
        reports.append(judge(case, results, asking.estimate(outcomes, index), scenario.expected))
    captured = {name: asking.captured(outcomes, name) for name in defined} if graphs else {}
    return _report(scenario, nets, present, devices, reports, captured)


class _Asking:
    """The jobs of one exploration, and their outcomes as records.

    A framework that was lost at the first look is asked nothing more; all its answers are that
    loss.
    """

    def __init__(self, nets: Nets, cases: tuple[GradCase, ...], captured_case: GradCase) -> None:
        self._nets = nets
        self._cases = cases
        self._captured_case = captured_case

    def answers(self) -> list[Job]:
        """Every case, to every engine; an engine's cases are shared among its workers."""
        jobs = []
        for name, net in self._nets.requests.items():
            engine = ENGINES[name]
            if engine.framework in self._nets.lost:
                continue
            for index, case in enumerate(self._cases):
                request = CaseRequest(net, case)
                target = f"{engine.module}:answer"
                jobs.append(
                    Job(("answer", name, index), name, engine.answers_in, target, request, Result)
                )
        return jobs

    def estimates(self) -> list[Job]:
        """Every case, to the oracle, which runs PyTorch's net on the CPU."""
        if "torch" in self._nets.lost:
            return []
        any_net = next(iter(self._nets.requests.values()))
        net = msgspec.structs.replace(any_net, engine="torch-tape", device="cpu")
        jobs = []
        for index, case in enumerate(self._cases):
            request = CaseRequest(net, case)
            target = "explorer.engines.oracle:estimate"
            jobs.append(
                Job(("estimate", index), ORACLE_STAGE, ("torch",), target, request, OracleResult)
            )
        return jobs

    def captures(self) -> list[Job]:
        """The captured case's graphs, of every engine."""
        jobs = []
        for name, net in self._nets.requests.items():
            engine = ENGINES[name]
            if engine.framework not in self._nets.lost:
                request = CaseRequest(net, self._captured_case)
                target = f"{engine.module}:capture"
                jobs.append(
                    Job(
                        ("capture", name),
                        "graphs",
                        (engine.captures_in,),
                        target,
                        request,
                        Captured,
                    )
                )
        return jobs

    def result(self, outcomes: Mapping[Any, Outcome], name: str, index: int) -> Result:
        """An engine's answer to the case at ``index``."""
        if name not in self._nets.requests:
            return NOT_DEFINED
        outcome = outcomes.get(
            ("answer", name, index), self._nets.lost.get(ENGINES[name].framework)
        )
        if isinstance(outcome, Lost):
            return Result(outcome=outcome.outcome, error=Failure(outcome.outcome, outcome.detail))
        result: Result = _reply(outcome)
        return result

    def estimate(self, outcomes: Mapping[Any, Outcome], index: int) -> OracleResult:
        """The oracle's answer to the case at ``index``."""
        if "torch" in self._nets.lost:
            return OracleResult(self._nets.lost["torch"].outcome)
        outcome = outcomes.get(("estimate", index), NO_ORACLE)
        if isinstance(outcome, Lost):
            return OracleResult(outcome.outcome, error=Failure(outcome.outcome, outcome.detail))
        estimate: OracleResult = _reply(outcome)
        return estimate

    def captured(self, outcomes: Mapping[Any, Outcome], name: str) -> Captured:
        """An engine's graphs; none, with the reason in the result, when it could not capture them."""
        outcome = outcomes.get(("capture", name), self._nets.lost.get(ENGINES[name].framework))
        if isinstance(outcome, Lost):
            return Captured(
                (), Result(outcome=outcome.outcome, error=Failure(outcome.outcome, outcome.detail))
            )
        captured: Captured = _reply(outcome)
        return captured


def _reply(outcome: Outcome) -> Any:
    """What a job replied; a framework that has gone missing in the middle of the work is raised."""
    if isinstance(outcome, MissingFrameworkError):
        raise outcome
    return outcome


def _present(workers: Workers, frameworks: Iterable[Framework]) -> dict[Framework, About]:
    present: dict[Framework, About] = {}
    for framework in sorted(frameworks):
        found = about_framework(workers, framework)
        if isinstance(found, Failure):
            raise MissingFrameworkError(f"{framework} cannot be used: {found.message}")
        present[framework] = found
    return present


def _torch_is_there(scenario: Scenario, workers: Workers) -> bool:
    """Whether the oracle can judge engines none of which is PyTorch's."""
    return scenario.defines("torch") and isinstance(about_framework(workers, "torch"), About)


def widest(floating: tuple[bool, ...], outputs: int, weights: bool) -> GradCase:
    """The case that asks for most: every floating input, all weights, the first of several outputs
    alone.

    ``floating`` says of each input whether it is of a floating dtype.
    """
    places = tuple(index for index, is_floating in enumerate(floating) if is_floating)
    position = places[0] if len(places) == 1 else places or None
    return GradCase("grad", position, "all" if weights else None, outputs > 1)


def _captured_case(
    scenario: Scenario, nets: Nets, cases: tuple[GradCase, ...], label: str | None
) -> GradCase:
    if label is None:
        floating = tuple(array.dtype.kind == "f" for array in scenario.inputs().values())
        return widest(floating, nets.outputs, bool(nets.trainable))
    by_label = {case.label: case for case in cases}
    return by_label[choose("case", label, by_label)]


def _report(
    scenario: Scenario,
    nets: Nets,
    present: Mapping[Framework, About],
    devices: dict[str, str],
    cases: list[CaseReport],
    captured: Mapping[str, Captured],
) -> Report:
    versions: dict[str, str] = {}
    for found in present.values():
        versions.update(found.versions)
    every_stage = [graph for capture in captured.values() for graph in capture.graphs]
    last_stages = [capture.graphs[-1] for capture in captured.values() if capture.graphs]
    ungraphed: dict[str, str] = {}
    for name, capture in captured.items():
        if capture.result.error:
            ungraphed[name] = capture.result.error.message
    return Report(
        scenario=scenario.name,
        title=scenario.title,
        notes=scenario.notes,
        versions=versions,
        devices=devices,
        inputs=tuple(Leaf(name, pack(array)) for name, array in scenario.inputs().items()),
        parameters=tuple(Leaf(name, array) for name, array in nets.parameters.items()),
        cases=tuple(cases),
        graphs=tuple(every_stage),
        ungraphed=ungraphed,
        alignments=tuple(align(one, other) for one, other in combinations(last_stages, 2)),
    )
