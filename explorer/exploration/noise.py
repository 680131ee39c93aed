"""The noise of the answers to all cases: which questions measure it, and what they say of each."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from explorer.compare.node_noise import lent_levels, with_levels
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES, Framework
from explorer.model.findings import NoiseUnknown, ReportFinding
from explorer.model.graph import GradGraph
from explorer.model.noise import ResultNoise
from explorer.model.requests import CaseRequest, NetRequest
from explorer.model.results import Captured
from explorer.scenario.settling import Nets
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome

NOISE_STAGE = "noise"
"""The stage of the runs that measure noise."""


LEVELS_OF = {
    "mindspore-graph": "mindspore-tape",
    "mindspore-tape": "mindspore-tape",
    "torch-tape": "torch-tape",
    "torch-graph": "torch-graph",
}
"""The engine whose nodes are measured for those of another: compiled graphs are not run again."""


class Question(NamedTuple):
    """What distinguishes the gradients of two cases, apart from the leaves that are differentiated.

    One case with all leaves measures the noise for all cases of one question.
    """

    has_aux: bool
    sens_param: bool
    order: int
    position: int | None
    """The position of a nested call."""


def question(case: GradCase) -> Question:
    """The question of a case."""
    nested = case.grad_position if case.order > 1 else None
    position = nested if isinstance(nested, int) else None
    return Question(case.has_aux, case.sens_param, case.order, position)


def asked(asked_for: Question, most: GradCase) -> GradCase:
    """The case that measures a question: everything that ``most`` asks for."""
    if asked_for.order > 1:
        return GradCase("grad", asked_for.position, order=asked_for.order)
    if asked_for.sens_param:
        by_list = most.weights is not None
        position = most.grad_position
        return GradCase(
            "GradOperation",
            position,
            most.weights,
            get_all=True,
            get_by_list=by_list,
            sens_param=True,
        )
    return msgspec.structs.replace(most, api="value_and_grad", has_aux=asked_for.has_aux)


def noise_jobs(nets: Nets, cases: Iterable[GradCase], most: GradCase) -> list[Job]:
    """One job a framework and question, for the framework's tape: it needs no compilation."""
    questions = dict.fromkeys(question(case) for case in cases if not case.must_fail)
    jobs = []
    for framework, request in _tapes(nets).items():
        for asked_for in questions:
            case = asked(asked_for, most)
            jobs.append(
                Job(
                    key=("noise", framework, asked_for),
                    stage=NOISE_STAGE,
                    kinds=(framework,),
                    target=f"explorer.engines.{framework}.noise:results",
                    request=CaseRequest(request, case),
                    reply=ResultNoise,
                    isolated=True,
                )
            )
    return jobs


def level_jobs(nets: Nets, case: GradCase) -> list[Job]:
    """One job an engine, which captures the case's graph with the noise of every node.

    MindSpore's graph style has none of its own: its nodes get the levels of the tape's.
    """
    tapes = _tapes(nets)
    jobs = {}
    for name, request in nets.requests.items():
        framework = ENGINES[name].framework
        if framework not in tapes:
            continue
        measured = LEVELS_OF[name]
        net = tapes[framework] if measured != name else request
        jobs[measured] = Job(
            key=("levels", measured),
            stage=NOISE_STAGE,
            kinds=(framework,),
            target=f"explorer.engines.{framework}.noise:capture",
            request=CaseRequest(net, case),
            reply=Captured,
            isolated=True,
        )
    return list(jobs.values())


def leveled(name: str, graph: GradGraph, outcomes: Mapping[object, JobOutcome]) -> GradGraph:
    """An engine's graph with the noise of its nodes, as far as it was measured."""
    measured = outcomes.get(("levels", LEVELS_OF[name]))
    if not isinstance(measured, Captured) or not measured.graphs:
        return graph
    if LEVELS_OF[name] == name:
        return with_levels(graph, measured.graphs[-1])
    return lent_levels(graph, measured.graphs[-1])


def _tapes(nets: Nets) -> dict[Framework, NetRequest]:
    """The net of each framework that takes part, as its tape is asked for it."""
    tapes: dict[Framework, NetRequest] = {}
    for name, request in nets.requests.items():
        framework = ENGINES[name].framework
        if framework not in nets.lost:
            tapes[framework] = msgspec.structs.replace(request, engine=f"{framework}-tape")
    return tapes


def losses(outcomes: Mapping[object, JobOutcome]) -> tuple[ReportFinding, ...]:
    """A remark on each framework whose worker was lost while it measured noise."""
    lost: dict[Framework, Lost] = {}
    for key, outcome in outcomes.items():
        if isinstance(key, tuple) and isinstance(outcome, Lost):
            if key[0] == "noise":
                lost.setdefault(key[1], outcome)
            elif key[0] == "levels":
                lost.setdefault(ENGINES[key[1]].framework, outcome)
    findings = []
    for framework, outcome in lost.items():
        reason = outcome.detail.splitlines()[0]
        findings.append(ReportFinding(fact=NoiseUnknown(framework, reason)))
    return tuple(findings)


def noise_of(
    case: GradCase, engines: Iterable[str], outcomes: Mapping[object, JobOutcome]
) -> dict[str, ResultNoise]:
    """The noise of each engine's answer to a case, as far as it was measured.

    A graph engine has its tape's: it runs the same kernels, in another order at most.
    """
    noise: dict[str, ResultNoise] = {}
    for name in engines:
        measured = outcomes.get(("noise", ENGINES[name].framework, question(case)))
        if isinstance(measured, ResultNoise):
            noise[name] = measured
    return noise
