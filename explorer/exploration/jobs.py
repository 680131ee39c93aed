"""The jobs of an exploration: cases for the engines and the oracle, captures, and measurements of noise."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from explorer.compare.graphs.view import Slot
from explorer.exploration.mended_run import Ask
from explorer.model.cases import GradCase
from explorer.model.causes import Trial, TrialsRequest, Tried
from explorer.model.engines import Framework, beside, engine_named, placed, plain
from explorer.model.mended import MendedRequest, MendedRun, Whole, WholeRequest
from explorer.model.requests import CaseRequest, NetRequest, ProofScope
from explorer.model.results import Captured, OracleResult, Result, ResultNoise
from explorer.scenario.common_start import Nets
from explorer.workers.queue import Job

ORACLE_STAGE = "central differences"
GRAPHS_STAGE = "graphs"
"""The stages of the oracle's work and of the captures; an engine's answers go by its name."""

COMPILED = "mindspore-graph"
"""The engine whose compiler takes gigabytes for a net of thousands of nodes."""


class Question(NamedTuple):
    """What distinguishes the gradients of two cases, apart from the leaves that are differentiated.

    One case with all leaves measures the noise for all cases of one question.
    """

    has_aux: bool
    sens_param: bool
    order: int
    position: int | None
    """The position of a nested call."""


class ResultKey(msgspec.Struct, frozen=True):
    """The key of the job for an engine's result of a case."""

    engine: str
    case: GradCase


class EstimateKey(msgspec.Struct, frozen=True):
    """The key of the job for the oracle's result of a case, by the net of a framework."""

    case: GradCase
    framework: Framework


class CaptureKey(msgspec.Struct, frozen=True):
    """The key of the job that captures an engine's graphs."""

    engine: str


class NoiseKey(msgspec.Struct, frozen=True):
    """The key of the job that measures the noise of a tape's results."""

    tape: str
    question: Question


class LevelsKey(msgspec.Struct, frozen=True):
    """The key of the job that measures the noise of every node of an engine's graph."""

    engine: str


class TrialsKey(msgspec.Struct, frozen=True):
    """The key of the job that computes ops of an engine's graph again, with other arguments."""

    engine: str


class MendedKey(msgspec.Struct, frozen=True):
    """The key of the job that captures an engine's graph with values of the ``other`` engine.

    That of the trials on the other engine's graph ``is_beside`` it.
    """

    engine: str
    other: str
    run: int
    is_beside: bool = False


class WholeKey(msgspec.Struct, frozen=True):
    """The key of the job that finds large values of an engine's graph."""

    engine: str


class PartKey(msgspec.Struct, frozen=True):
    """The key of the job that makes some of the trials of another job: those between two places."""

    of: TrialsKey | MendedKey
    begin: int
    end: int


JobKey = (
    ResultKey
    | EstimateKey
    | CaptureKey
    | NoiseKey
    | LevelsKey
    | TrialsKey
    | MendedKey
    | WholeKey
    | PartKey
)


# A framework whose net raised at the first look, or whose worker was lost, gets no job: a net that
# kills its worker, or outlives its time, would do so once a case. Its results are that first one.


def result_jobs(
    nets: Nets,
    cases: Iterable[GradCase],
    *,
    named: Collection[GradCase],
    referees: Sequence[Framework],
    shared: bool = True,
) -> list[Job]:
    """Each case to every engine, and to the oracle on the nets of ``referees``, one case after another.

    Those ``named`` alone are asked of a compiled net with ``return_ids=True``
    too. An engine's cases are ``shared`` among its workers, or the first of
    these alone gets them.
    """
    jobs = []
    for case in cases:
        jobs += _of_engines(nets, case, case in named, shared)
        for referee in referees:
            if nets.without_answer(referee) is None:
                jobs.append(_of_oracle(nets, case, referee))
    return jobs


def _of_engines(nets: Nets, case: GradCase, is_named: bool, shared: bool) -> list[Job]:
    jobs = []
    for name, net in _engines_there(nets):
        engine = engine_named(name)
        kinds = engine.answers_in if shared else engine.answers_in[:1]
        request = CaseRequest(net, case, ids=is_named or plain(name) != COMPILED)
        target = f"{engine.module}:answer"
        key, compiles = ResultKey(name, case), plain(name) == COMPILED
        job = Job(key, name, kinds, target, request, Result, compiles, isolated=True)
        jobs.append(job)
    return jobs


def _engines_there(nets: Nets) -> Iterator[tuple[str, NetRequest]]:
    """The engines whose framework could run its net at the first look, with their nets."""
    for name, net in nets.requests.items():
        if nets.without_answer(engine_named(name).framework) is None:
            yield name, net


def _of_oracle(nets: Nets, case: GradCase, referee: Framework) -> Job:
    """The oracle's job, which runs a framework's net on the CPU whatever the device."""
    # A request for another framework will do: they start alike.
    by_framework = {engine_named(name).framework: net for name, net in nets.requests.items()}
    any_net = by_framework.get(referee) or next(iter(nets.requests.values()))
    net = msgspec.structs.replace(
        any_net, engine=f"{referee}-tape", device="cpu", trainable=nets.trainable
    )
    target, request = "explorer.engines.oracle:estimate", CaseRequest(net, case)
    kinds = (placed(referee, nets.homes.get(referee, "")),)
    return Job(
        EstimateKey(case, referee),
        ORACLE_STAGE,
        kinds,
        target,
        request,
        OracleResult,
        isolated=True,
    )


def capture_jobs(nets: Nets, case: GradCase, prove: ProofScope = "small") -> list[Job]:
    """One case's graphs, of every engine; ``prove`` says which have their values proven."""
    jobs = []
    for name, net in _engines_there(nets):
        engine = engine_named(name)
        target, request = "explorer.engines.whole:capture", CaseRequest(net, case, prove=prove)
        key, kinds, compiles = CaptureKey(name), (engine.captures_in,), plain(name) == COMPILED
        job = Job(key, GRAPHS_STAGE, kinds, target, request, Captured, compiles, isolated=True)
        jobs.append(job)
    return jobs


def trial_jobs(nets: Nets, case: GradCase, trials: Mapping[str, tuple[Trial, ...]]) -> list[Job]:
    """Trials on the graphs of one case, by engine."""
    jobs = []
    for name, wanted in trials.items():
        engine = engine_named(name)
        request = TrialsRequest(CaseRequest(nets.requests[name], case), wanted)
        target, kinds = f"explorer.engines.{engine.framework}.trials:try_out", (engine.captures_in,)
        job = Job(TrialsKey(name), GRAPHS_STAGE, kinds, target, request, Tried, isolated=True)
        jobs.append(job)
    return jobs


def mended_jobs(nets: Nets, case: GradCase, key: MendedKey, ask: Ask) -> list[Job]:
    """One engine's graph of a case with values of another, and trials on the graph of that one."""
    engine = engine_named(key.engine)
    request = MendedRequest(CaseRequest(nets.requests[key.engine], case), ask.put_in, ask.trials)
    target, kinds = (
        f"explorer.engines.{engine.framework}.mended:capture_mended",
        (engine.captures_in,),
    )
    run = Job(key, GRAPHS_STAGE, kinds, target, request, MendedRun, isolated=True)
    if not ask.others:
        return [run]
    beside = msgspec.structs.replace(key, is_beside=True)
    others = trial_jobs(nets, case, {key.other: ask.others})
    return [run, *(replace(job, key=beside) for job in others)]


def whole_jobs(nets: Nets, case: GradCase, wanted: Mapping[str, tuple[Slot, ...]]) -> list[Job]:
    """Large values of one case's graphs, by engine."""
    jobs = []
    for name, slots in wanted.items():
        engine, compiles = engine_named(name), plain(name) == COMPILED
        request = WholeRequest(CaseRequest(nets.requests[name], case), slots)
        target, kinds = "explorer.engines.whole:whole", (engine.captures_in,)
        job = Job(
            WholeKey(name), GRAPHS_STAGE, kinds, target, request, Whole, compiles, isolated=True
        )
        jobs.append(job)
    return jobs


NOISE_STAGE = "noise"
"""The stage of the runs that measure noise."""


def levels_of(name: str) -> str:
    """The engine whose nodes are measured for those of another: its own, or its framework's tape's.

    MindSpore's compiled graphs are not run again.
    """
    return beside(name, "tape") if plain(name) == COMPILED else name


FORWARD = Question(has_aux=False, sens_param=False, order=1, position=None)
"""The question whose measuring case returns the outputs of the net too."""


def question(case: GradCase) -> Question:
    """The question of a case."""
    nested = case.grad_position if case.order > 1 else None
    position = nested if isinstance(nested, int) else None
    return Question(case.has_aux, case.sens_param, case.order, position)


def measuring_case(of: Question, most: GradCase) -> GradCase:
    """The case that measures a question: everything that ``most`` asks for."""
    if of.order > 1:
        return GradCase("grad", of.position, order=of.order)
    if of.sens_param:
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
    return msgspec.structs.replace(most, api="value_and_grad", has_aux=of.has_aux)


def noise_jobs(
    nets: Nets, cases: Iterable[GradCase], most: GradCase, *, of_one: bool = False
) -> list[Job]:
    """One job a framework and question, for the framework's tape: it needs no compilation.

    ``of_one`` framework alone, PyTorch where it is there.
    """
    cases = [case for case in cases if not case.must_fail]
    jobs = []
    tapes = _tapes(nets)
    for tape in _measured(tapes, of_one):
        net, engine = tapes[tape], engine_named(tape)
        target = f"explorer.engines.{engine.framework}.noise:results"
        for measured in dict.fromkeys(map(question, cases)):
            case = measuring_case(measured, most)
            key, request = NoiseKey(tape, measured), CaseRequest(net, case)
            kinds = (engine.captures_in,)
            job = Job(key, NOISE_STAGE, kinds, target, request, ResultNoise, isolated=True)
            jobs.append(job)
    return jobs


def _measured(tapes: Mapping[str, NetRequest], of_one: bool) -> list[str]:
    """The tapes whose noise is measured."""
    if not of_one:
        return list(tapes)
    of_torch = [tape for tape in tapes if engine_named(tape).framework == "torch"]
    return (of_torch or list(tapes))[:1]


def level_jobs(nets: Nets, case: GradCase, *, of_one: bool = False) -> list[Job]:
    """One job an engine, which captures the case's graph with the noise of every node.

    MindSpore's graph style has none of its own: its nodes get the levels of the
    tape's. ``of_one`` tape alone, all graphs get the levels of that.
    """
    tapes = _tapes(nets)
    jobs = {}
    for name, own in _engines_there(nets):
        tape = beside(name, "tape")
        if of_one and tape not in _measured(tapes, of_one):
            continue
        measured = tape if of_one else levels_of(name)
        net = tapes[tape] if measured != name else own
        key, request = LevelsKey(measured), CaseRequest(net, case)
        target = "explorer.engines.whole:levels"
        kinds = (engine_named(tape).captures_in,)
        jobs[measured] = Job(key, NOISE_STAGE, kinds, target, request, Captured, isolated=True)
    return list(jobs.values())


def _tapes(nets: Nets) -> dict[str, NetRequest]:
    """The net of each framework that takes part, by its tape, which is asked for it."""
    tapes: dict[str, NetRequest] = {}
    for name, request in _engines_there(nets):
        tape = beside(name, "tape")
        tapes[tape] = msgspec.structs.replace(request, engine=plain(tape))
    return tapes
