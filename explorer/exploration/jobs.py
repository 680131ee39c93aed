"""The jobs of an exploration: cases for the engines and the oracle, captures, noise, and trials on graphs."""

import dataclasses
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from explorer.compare.causes.explanations import Ask
from explorer.model.cases import GradCase
from explorer.model.causes import Trial, TrialsRequest, Tried
from explorer.model.engines import (
    Framework,
    WorkerKind,
    beside,
    engine_named,
    framework_of,
    placed,
    plain,
)
from explorer.model.graph import Output, Slot
from explorer.model.mended import MendedRequest, MendedRun, Whole, WholeRequest
from explorer.model.requests import CaseRequest, NetRequest, ProofScope
from explorer.model.results import Captured, OracleResult, Result, ResultNoise
from explorer.scenario.common_start import Nets
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome

ORACLE_STAGE = "central differences"
GRAPHS_STAGE = "graphs"
NOISE_STAGE = "noise"
"""The stages of the oracle's work, of captures and of noise; an engine's answers go by its name."""

COMPILED = "mindspore-graph"
"""The engine whose compiler takes gigabytes for a net of thousands of nodes."""

What = Literal["result", "estimate", "graphs", "noise", "levels", "trials", "mended", "whole"]
"""What a job finds out of an engine: its answer to a case, its graphs, their noise, what is tried there."""


class Kind(NamedTuple):
    """A kind of jobs: what workers call, in explorer.engines, what they reply, and at which stage.

    ``compiles`` says that it has a net compiled where it is one of the engine that is COMPILED.
    """

    target: str
    reply: type[Any]
    stage: str = GRAPHS_STAGE
    compiles: bool = False


KINDS: dict[What, Kind] = {
    "result": Kind("{framework}.{style}:answer", Result, "{name}", compiles=True),
    "estimate": Kind("oracle:estimate", OracleResult, ORACLE_STAGE),
    "graphs": Kind("whole:capture", Captured, compiles=True),
    "noise": Kind("{framework}.noise:results", ResultNoise, NOISE_STAGE),
    "levels": Kind("whole:levels", Captured, NOISE_STAGE),
    "trials": Kind("{framework}.trials:try_out", Tried),
    "mended": Kind("{framework}.mended:capture_mended", MendedRun),
    "whole": Kind("whole:whole", Whole, compiles=True),
}

PARTS = 8
"""Into so many parts trials are divided of which one ends its worker."""

MOST_LOST = 16
"""So many workers are lost at most over the trials of one job."""


class JobKey(NamedTuple):
    """What a job finds out, of which engine, and on what.

    ``on`` is the case of a result or an estimate, or that which measures noise, and otherwise what tells it
    from another job at the same time. An estimate is that of the engine's framework.
    """

    what: What
    engine: str
    on: Hashable = None


def measuring_case(case: GradCase, most: GradCase) -> GradCase:
    """The case whose noise is measured for that of ``case``, and of all that differ from it in leaves alone.

    It asks for everything that ``most`` asks for; where it is not nested and takes no ``sens_param``, the
    outputs of the net are among its leaves.
    """
    if case.order > 1:
        position = case.grad_position if isinstance(case.grad_position, int) else None
        return GradCase("grad", position, order=case.order)
    if case.sens_param:
        by_list = most.weights is not None
        return GradCase(
            "GradOperation",
            most.grad_position,
            most.weights,
            get_all=True,
            get_by_list=by_list,
            sens_param=True,
        )
    return replace(most, api="value_and_grad", has_aux=case.has_aux)


def levels_of(name: str) -> str:
    """The engine whose nodes are measured for those of another: its own, or its framework's tape's.

    MindSpore's compiled graphs are not run again.
    """
    return beside(name, "tape") if plain(name) == COMPILED else name


class Jobs(msgspec.Struct, frozen=True, kw_only=True):
    """What the jobs of one exploration are made of.

    ``main`` is the case whose graphs are captured, ``most`` the one that asks for most, and ``named`` are
    those that are asked for ids too. ``referees`` are the frameworks whose nets the oracle runs; None where
    the user leaves it out. ``proof`` says in which graphs ops are computed again; None where no graph is
    captured. Of a net that ``is_large`` the answers come first, and noise may be that ``of_one`` framework
    alone, PyTorch where it is there.

    A framework whose net raised at the first look, or whose worker was lost, gets no job: a net that
    kills its worker, or outlives its time, would do so once a case. Its results are that first one.
    """

    nets: Nets
    main: GradCase
    most: GradCase
    named: Collection[GradCase] = ()
    referees: tuple[Framework, ...] | None = ()
    proof: ProofScope | None = "small"
    is_large: bool = False
    of_one: bool = False

    def of_main(self) -> list[Job]:
        """The jobs of the main case."""
        graphs = [*self.captures(), *self.levels()] if self.proof else []
        noise = self.noise((self.main,))
        # A second process that starts up would be in the way of the first answers.
        results = self.results((self.main,), shared=False)
        if not self.is_large:
            return [*graphs, *noise, *results]
        # Each takes a while: a user sees the engines' answers before all else.
        answers = [job for job in results if job.key.what == "result"]
        return [*answers, *graphs, *noise, *(job for job in results if job not in answers)]

    def of_others(self, cases: Iterable[GradCase]) -> list[Job]:
        """The jobs of other cases, with those that measure their noise."""
        cases = tuple(cases)
        return [*self.noise(cases), *self.results(cases)]

    def results(self, cases: Iterable[GradCase], *, shared: bool = True) -> list[Job]:
        """Each case to every engine, and to the oracle on the nets of the referees, one case after another.

        Those ``named`` alone are asked of a compiled net with ``return_ids=True`` too. An engine's cases are
        ``shared`` among its workers, or the first of these alone gets them.
        """
        jobs = []
        for case in cases:
            for name, net in self._there():
                kinds = engine_named(name).answers_in
                ids = case in self.named or plain(name) != COMPILED
                request, workers = CaseRequest(net, case, ids=ids), kinds if shared else kinds[:1]
                jobs.append(_job(JobKey("result", name, case), request, workers))
            for referee in self.referees or ():
                if self.nets.without_answer(referee) is None:
                    # On the CPU whatever the device. Another framework's request will do: they start alike.
                    nets, tape = self.nets.requests, f"{referee}-tape"
                    own = (it for name, it in nets.items() if framework_of(name) == referee)
                    net = next(own, next(iter(nets.values())))
                    net = replace(net, engine=tape, device="cpu", trainable=self.nets.trainable)
                    key, request = JobKey("estimate", tape, case), CaseRequest(net, case)
                    workers = (placed(referee, self.nets.homes.get(referee, "")),)
                    jobs.append(_job(key, request, workers))
        return jobs

    def _there(self) -> Iterator[tuple[str, NetRequest]]:
        """The engines whose framework could run its net at the first look, with their nets."""
        for name, net in self.nets.requests.items():
            if self.nets.without_answer(engine_named(name).framework) is None:
                yield name, net

    def captures(self) -> list[Job]:
        """The main case's graphs, of every engine."""
        proof = self.proof or "small"
        return [
            _job(JobKey("graphs", name), CaseRequest(net, self.main, prove=proof))
            for name, net in self._there()
        ]

    def noise(self, cases: Iterable[GradCase]) -> list[Job]:
        """One job a framework and measuring case, for the framework's tape: it needs no compilation."""
        measuring = dict.fromkeys(measuring_case(it, self.most) for it in cases if not it.must_fail)
        return [
            _job(JobKey("noise", tape, case), CaseRequest(net, case))
            for tape, net in self._tapes().items()
            for case in measuring
        ]

    def levels(self) -> list[Job]:
        """One job an engine, which captures the main case's graph with the noise of every node.

        MindSpore's graph style has none of its own: its nodes get the levels of the tape's. Where the noise
        is that of one tape alone, all graphs get the levels of that.
        """
        tapes = self._tapes()
        nets: dict[str, NetRequest] = {}
        for name, own in self._there():
            tape = beside(name, "tape")
            if tape in tapes:
                measured = tape if self.of_one else levels_of(name)
                nets[measured] = own if measured == name else tapes[tape]
        return [
            _job(JobKey("levels", name), CaseRequest(net, self.main)) for name, net in nets.items()
        ]

    def _tapes(self) -> dict[str, NetRequest]:
        """The net of each framework whose noise is measured, by its tape, which is asked for it."""
        beside_it = ((beside(name, "tape"), request) for name, request in self._there())
        tapes = {tape: replace(request, engine=plain(tape)) for tape, request in beside_it}
        if not self.of_one:
            return tapes
        of_torch = [tape for tape in tapes if engine_named(tape).framework == "torch"]
        return {tape: tapes[tape] for tape in (of_torch or list(tapes))[:1]}

    def trials(self, trials: Mapping[str, tuple[Trial, ...]], on: Hashable = None) -> list[Job]:
        """Trials on the graphs of the main case, by engine; ``on`` tells them from others meanwhile."""
        requests = ((it, TrialsRequest(self._of_case(it), wanted)) for it, wanted in trials.items())
        return [_job(JobKey("trials", name, on), request) for name, request in requests]

    def mended(self, ask: Ask) -> list[Job]:
        """One engine's graph with values of another, and trials on the graph of that one."""
        run = MendedRequest(self._of_case(ask.engine), ask.put_in, ask.trials)
        beside_it = {ask.other: ask.others} if ask.others else {}
        run_key = JobKey("mended", ask.engine, ask.other)
        return [_job(run_key, run), *self.trials(beside_it, on=ask.engine)]

    def whole(self, wanted: Mapping[str, Iterable[Slot]]) -> list[Job]:
        """Large values of the main case's graphs, by engine."""
        return [
            _job(JobKey("whole", name), WholeRequest(self._of_case(name), tuple(slots)))
            for name, slots in wanted.items()
        ]

    def _of_case(self, name: str) -> CaseRequest:
        return CaseRequest(self.nets.requests[name], self.main)


def _job(key: JobKey, request: msgspec.Struct, workers: tuple[WorkerKind, ...] = ()) -> Job:
    """A job for an engine, where its graphs are captured unless other ``workers`` do it."""
    engine, kind = engine_named(key.engine), KINDS[key.what]
    target = kind.target.format(framework=engine.framework, style=engine.style)
    return Job(
        key,
        kind.stage.format(name=key.engine),
        workers or (engine.captures_in,),
        f"explorer.engines.{target}",
        request,
        kind.reply,
        compiles=kind.compiles and plain(key.engine) == COMPILED,
        isolated=True,
    )


# Trials of which one ends its worker: they are made again in parts, and all but that one are kept.


def made_in_parts(job: Job, outcome: JobOutcome, make: Callable[[Job], JobOutcome]) -> JobOutcome:
    """The outcome of a job; where trials ended its worker, with what came of those that do not end one.

    A worker that was lost for lack of time is not asked again. ``make`` carries out a job. Where the worker
    is lost without any trial, or too often, the rest stays as it is.
    """
    request: Any = job.request
    if not (getattr(request, "trials", ()) and _is_crash(outcome)):
        return outcome
    lost, run = outcome, None
    outputs: list[tuple[Output, ...]] = [()] * len(request.trials)
    # Without any trial first: where the worker is lost over that, it is not the trials.
    waiting = [range(0)] if isinstance(request, MendedRequest) else []
    waiting += _divided(range(len(outputs)))
    losses = 0
    while waiting and losses < MOST_LOST:
        places = waiting.pop(0)
        trials = request.trials[places.start : places.stop]
        outcome = make(dataclasses.replace(job, request=replace(request, trials=trials)))
        if _is_crash(outcome):
            losses += 1
            if not places:
                return lost
            waiting += _divided(places) if len(places) > 1 else []
        elif isinstance(outcome, (Tried, MendedRun)):
            run = outcome
            made = outcome.outputs if isinstance(outcome, Tried) else outcome.tried
            outputs[places.start : places.start + len(made)] = made
    if isinstance(request, TrialsRequest):
        return Tried(tuple(outputs))
    return replace(run, tried=tuple(outputs)) if run else lost


def _is_crash(outcome: JobOutcome) -> bool:
    return isinstance(outcome, Lost) and outcome.outcome == "crashed" and not outcome.is_fault


def _divided(places: range) -> list[range]:
    """The places of some trials, in parts of nearly one size."""
    step = max(1, -(-len(places) // PARTS))
    return [places[at : at + step] for at in range(0, len(places), step)]
