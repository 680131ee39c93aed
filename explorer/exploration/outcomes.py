"""The outcomes of an exploration's jobs, as the records that a report holds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from explorer.compare.graphs.levels import lent_levels, with_levels
from explorer.compare.results.answers import NO_NOISE
from explorer.compare.results.comparison import compare, movements
from explorer.exploration.excerpts import without_values
from explorer.exploration.jobs import (
    FORWARD,
    CaptureKey,
    EstimateKey,
    JobKey,
    LevelsKey,
    MendedKey,
    NoiseKey,
    Question,
    ResultKey,
    TrialsKey,
    WholeKey,
    levels_of,
    question,
)
from explorer.model.arrays import Array, unpack
from explorer.model.cases import GradCase
from explorer.model.causes import Tried
from explorer.model.engines import Framework, beside, engine_named
from explorer.model.errors import MissingFrameworkError
from explorer.model.failures import Failure, Loss
from explorer.model.findings import NoiseUnknown, RecordedOtherwise, ReportFinding
from explorer.model.graph import GradGraph
from explorer.model.mended import MendedRun, Whole
from explorer.model.results import Captured, OracleResult, Result, ResultNoise
from explorer.numeric.differences import elementwise_difference, real_parts
from explorer.scenario.common_start import Nets
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome

NOT_DEFINED = Result(outcome="not_defined", error=Failure("NotDefined", kind="no_net"))
NO_ORACLE = OracleResult("not_defined", error=Failure("NotDefined", kind="no_torch_net"))
LEFT_OUT_ORACLE = OracleResult("not_asked", error=Failure("NotAsked", kind="no_oracle"))
"""The oracle's answer where it cannot give one, and where the user does not want it."""

INTERRUPTED = Lost("not_asked", Loss(kind="interrupted"))
"""The outcome of a job that was not finished when Ctrl-C came."""


class Outcomes:
    """The outcomes of the jobs of an exploration so far.

    Its methods raise MissingFrameworkError if a framework cannot be imported any more during the run.
    A job that is not finished counts as interrupted.
    """

    def __init__(
        self,
        nets: Nets,
        without_oracle: OracleResult = NO_ORACLE,
        referees: Sequence[Framework] = (),
    ) -> None:
        self._nets = nets
        self._referees = referees
        self._without_oracle = without_oracle
        self._has_oracle = False
        self._waiting_for: dict[GradCase, set[JobKey]] = {}
        self._by_key: dict[JobKey, JobOutcome] = {}
        self._noisy: dict[str, GradGraph] = {}

    def expect(self, jobs: list[Job]) -> None:
        """Note that these jobs are on their way."""
        for job in jobs:
            key: JobKey = job.key
            if isinstance(key, EstimateKey):
                self._has_oracle = True
            if isinstance(key, (ResultKey, EstimateKey)):
                self._waiting_for.setdefault(key.case, set()).add(key)
        measured = [job.key for job in jobs if isinstance(job.key, NoiseKey)]
        for case, keys in self._waiting_for.items():
            if keys:  # else its results are there already
                questions = question(case), FORWARD
                keys.update(key for key in measured if key.question in questions)

    def note(self, job: Job, outcome: JobOutcome) -> list[GradCase]:
        """Note the outcome of a job; the cases that waited for nothing else."""
        outcome = _of_engine(job.key, outcome)
        if isinstance(job.key, LevelsKey) and isinstance(outcome, Captured):
            # Its graph has the noise; its values are those of the plain capture.
            outcome = msgspec.structs.replace(outcome, result=without_values(outcome.result))
        self._by_key[job.key] = outcome
        if isinstance(job.key, (CaptureKey, LevelsKey)):
            self._noisy.clear()
        complete = []
        for case, keys in self._waiting_for.items():
            if job.key in keys:
                keys.remove(job.key)
                if not keys:
                    complete.append(case)
        return complete

    def of(self, key: JobKey) -> JobOutcome:
        """The outcome of a job that is finished; None of another one."""
        return self._by_key.get(key)

    def taken(self, key: JobKey) -> JobOutcome:
        """The outcome of a job, which is let go of."""
        return self._by_key.pop(key, None)

    def abridge(self, case: GradCase) -> None:
        """Let go of the values of a case that is judged."""
        for name in self._nets.requests:
            key = ResultKey(name, case)
            result = self._by_key.get(key)
            if isinstance(result, Result):
                self._by_key[key] = without_values(result)

    def forget_recorded_values(self) -> None:
        """Let go of the values that were computed while graphs were captured."""
        for key, outcome in self._by_key.items():
            if isinstance(outcome, Captured):
                result = without_values(outcome.result)
                self._by_key[key] = msgspec.structs.replace(outcome, result=result)

    @property
    def is_empty(self) -> bool:
        """Whether no job is finished yet."""
        return not self._by_key

    def is_reached(self, case: GradCase) -> bool:
        """Whether any engine has a result for the case."""
        results = [self.result(name, case) for name in self._nets.requests]
        return any(result.outcome != "not_asked" for result in results)

    @property
    def is_out_of_time(self) -> bool:
        """Whether a job was not run because the time limit of the whole run was reached."""
        for outcome in self._by_key.values():
            if isinstance(outcome, Lost) and outcome.outcome == "not_asked":
                return True
        return False

    def result(self, name: str, case: GradCase) -> Result:
        """An engine's answer to a case."""
        if name not in self._nets.requests:
            return NOT_DEFINED
        failed = self._nets.without_answer(engine_named(name).framework)
        if failed:
            return failed
        reply = self._reply(ResultKey(name, case))
        if isinstance(reply, Lost):
            return Result(outcome=reply.outcome, error=reply.failure)
        result: Result = reply
        return result

    def estimate(self, case: GradCase) -> OracleResult:
        """The oracle's answer to a case: by the first framework's net, and by the others' beside it."""
        answers = [self._estimate_by(framework, case) for framework in self._referees]
        if not answers:
            return self._without_oracle
        answers.sort(key=lambda answer: not answer.estimates)
        beside = tuple(answer for answer in answers[1:] if answer.estimates)
        return msgspec.structs.replace(answers[0], beside=beside)

    def _estimate_by(self, framework: Framework, case: GradCase) -> OracleResult:
        # The engines' own answers say already how their framework's worker was lost.
        failed = self._nets.without_answer(framework)
        if failed:
            return OracleResult(failed.outcome)
        if not self._has_oracle:
            return self._without_oracle
        reply = self._reply(EstimateKey(case, framework))
        if isinstance(reply, Lost):
            return OracleResult(reply.outcome, error=reply.failure)
        estimate: OracleResult = reply
        return estimate

    def noise(self, case: GradCase, engines: Iterable[str]) -> dict[str, ResultNoise]:
        """The noise of the engines' answers to a case, as far as it was measured."""
        return noise_of(case, engines, self._by_key)

    def forwards(self, engines: Iterable[str]) -> dict[str, ResultNoise]:
        """What each engine's net returns, with its noise, as far as it was measured."""
        return _measured(FORWARD, engines, self._by_key)

    @property
    def remarks(self) -> tuple[ReportFinding, ...]:
        """What a reader should know of the noise that could not be measured."""
        return losses(self._by_key)

    def tried(self) -> dict[str, Tried]:
        """What came of the trials, by engine; none of one whose worker was lost."""
        found: dict[str, Tried] = {}
        for key, reply in self._by_key.items():
            if isinstance(key, TrialsKey) and isinstance(reply, Tried):
                found[key.engine] = reply
        return found

    def mended(self, key: MendedKey) -> tuple[MendedRun | None, Tried | None]:
        """The graph with values of another engine, and the trials beside it; None of what was lost."""
        run = self._by_key.pop(key, None)
        beside = self._by_key.pop(msgspec.structs.replace(key, is_beside=True), None)
        return (
            run if isinstance(run, MendedRun) else None,
            beside if isinstance(beside, Tried) else None,
        )

    def whole(self, engine: str) -> tuple[Array | None, ...]:
        """The large values of an engine that were asked for; () where its worker was lost."""
        reply = self._by_key.pop(WholeKey(engine), None)
        return reply.values if isinstance(reply, Whole) else ()

    def captured(self, name: str) -> Captured:
        """An engine's graphs; none, with the reason in the result, when it could not capture."""
        failed = self._nets.without_answer(engine_named(name).framework)
        if failed:
            return Captured((), failed)
        reply = self._reply(CaptureKey(name))
        if isinstance(reply, Lost):
            # The worker of a fault is not lost, and may have answered all the same.
            outcome = "unsupported" if reply.is_fault else reply.outcome
            return Captured((), Result(outcome=outcome, error=reply.failure))
        captured: Captured = reply
        if not captured.graphs:
            return captured
        *earlier, last = captured.graphs
        # Asked for several times in a report; to look up the levels of a large graph takes a while.
        if name not in self._noisy:
            self._noisy[name] = leveled(name, last, self._by_key)
        return msgspec.structs.replace(captured, graphs=(*earlier, self._noisy[name]))

    def _reply(self, key: JobKey) -> Any:
        """The reply of a job's target, or the loss of its worker."""
        outcome = self._by_key.get(key, INTERRUPTED)
        if isinstance(outcome, MissingFrameworkError):
            raise outcome
        return outcome


def _of_engine(key: JobKey, outcome: JobOutcome) -> JobOutcome:
    """An outcome whose graphs say in which environment they were captured: a worker does not know."""
    if isinstance(key, (CaptureKey, LevelsKey)) and isinstance(outcome, Captured):
        graphs = tuple(_named(graph, key.engine) for graph in outcome.graphs)
        return msgspec.structs.replace(outcome, graphs=graphs)
    if isinstance(key, MendedKey) and isinstance(outcome, MendedRun) and outcome.graph:
        return msgspec.structs.replace(outcome, graph=_named(outcome.graph, key.engine))
    return outcome


def _named(graph: GradGraph, engine: str) -> GradGraph:
    if graph.engine == engine:
        return graph
    return msgspec.structs.replace(graph, engine=engine)


# Noise


def leveled(name: str, graph: GradGraph, outcomes: Mapping[JobKey, JobOutcome]) -> GradGraph:
    """An engine's graph with the noise of its nodes, as far as it was measured."""
    measured = outcomes.get(LevelsKey(levels_of(name)))
    if measured is None:
        # Of a large net the nodes of one tape are measured.
        measured = next(_levels_of_any_tape(outcomes), None)
        if isinstance(measured, Captured) and measured.graphs:
            return lent_levels(graph, measured.graphs[-1])
    if not isinstance(measured, Captured) or not measured.graphs:
        return graph
    if levels_of(name) == name:
        return with_levels(graph, measured.graphs[-1])
    return lent_levels(graph, measured.graphs[-1])


def _levels_of_any_tape(outcomes: Mapping[JobKey, JobOutcome]) -> Iterator[JobOutcome]:
    for key, outcome in outcomes.items():
        if isinstance(key, LevelsKey) and engine_named(key.engine).style == "tape":
            yield outcome


def noise_of(
    case: GradCase, engines: Iterable[str], outcomes: Mapping[JobKey, JobOutcome]
) -> dict[str, ResultNoise]:
    """The noise of each engine's answer to a case, as far as it was measured."""
    return _measured(question(case), engines, outcomes)


def _measured(
    asked: Question, engines: Iterable[str], outcomes: Mapping[JobKey, JobOutcome]
) -> dict[str, ResultNoise]:
    """The noise of each engine's answers to a question, as far as it was measured.

    A graph engine has its tape's: it runs the same kernels, in another order at most.
    """
    noise: dict[str, ResultNoise] = {}
    for name in engines:
        measured = outcomes.get(NoiseKey(beside(name, "tape"), asked))
        if measured is None:
            # Of a large net that of one tape is measured, and stands for the other's.
            measured = next(iter(_of_any_tape(asked, outcomes)), None)
        if isinstance(measured, ResultNoise):
            noise[name] = measured
    return noise


def _of_any_tape(asked: Question, outcomes: Mapping[JobKey, JobOutcome]) -> Iterator[JobOutcome]:
    for key, outcome in outcomes.items():
        if isinstance(key, NoiseKey) and key.question == asked:
            yield outcome


def losses(outcomes: Mapping[JobKey, JobOutcome]) -> tuple[ReportFinding, ...]:
    """A remark on each framework whose noise was not measured.

    A worker was lost meanwhile, or its version cannot measure any.
    """
    unknown: dict[Framework, Failure] = {}
    for key, outcome in outcomes.items():
        if isinstance(key, (NoiseKey, LevelsKey)):
            tape = key.tape if isinstance(key, NoiseKey) else key.engine
            error = _why_unmeasured(outcome)
            if error is not None:
                unknown.setdefault(engine_named(tape).framework, error)
    return tuple(ReportFinding(fact=NoiseUnknown(*item)) for item in unknown.items())


def _why_unmeasured(outcome: JobOutcome) -> Failure | None:
    """Why noise was not measured; None where it was, or where the call has no answer at all."""
    if isinstance(outcome, Lost):
        return outcome.failure
    if isinstance(outcome, ResultNoise) and outcome.error and outcome.error.kind == "older_version":
        return outcome.error
    return None


# Recordings


def recorded_otherwise(
    captured: Mapping[str, Captured],
    results: Mapping[str, Result],
    noise: Mapping[str, ResultNoise] = NO_NOISE,
) -> Iterator[ReportFinding]:
    """A finding for each engine whose recorded run gave other bits than its plain one.

    ``results`` are the plain answers to the case that was recorded, ``noise`` is that of each. In
    float64 MindSpore's tape hands numbers to operators in single precision while it is watched, and
    PyTorch's prod has another derivative under a dispatch mode (2.10.0, 2.13).
    """
    for engine, record in captured.items():
        plain = results.get(engine)
        if plain is None or plain.outcome != "ok" or record.result.outcome != "ok":
            continue
        sizes = _different(record.result, plain)
        if sizes:
            is_altered = _is_altered(record.result, plain, noise.get(engine))
            fact = RecordedOtherwise(engine, sizes, is_altered)
            yield ReportFinding(fact=fact, names=tuple(sizes))


def altered_engines(findings: Iterable[ReportFinding]) -> frozenset[str]:
    """The engines whose recorded graph shows another computation than that of their plain call."""
    engines = set()
    for finding in findings:
        if isinstance(finding.fact, RecordedOtherwise) and finding.fact.is_altered:
            engines.add(finding.fact.engine)
    return frozenset(engines)


def _is_altered(recorded: Result, plain: Result, noise: ResultNoise | None) -> bool:
    """Whether two results of one engine differ by more than rounding."""
    movement = movements(noise)
    drawn = noise.drawn if noise else ()
    return compare(recorded, plain, noise=(movement, movement), drawn=drawn).verdict == "differs"


def _different(recorded: Result, plain: Result) -> dict[str, float]:
    """The greatest difference of each leaf that is not the same bit for bit."""
    others = {leaf.name: unpack(leaf.value) for leaf in plain.leaves}
    found: dict[str, float] = {}
    for leaf in recorded.leaves:
        values, other = unpack(leaf.value), others.get(leaf.name)
        if other is None or other.shape != values.shape or values.dtype.kind not in "fc":
            continue
        # In parts: a complex number is a NaN as soon as one of its parts is.
        one = real_parts(values).astype(np.float64)
        another = real_parts(other).astype(np.float64)
        if not np.array_equal(one, another, equal_nan=True):
            found[leaf.name] = float(elementwise_difference(one, another).max(initial=0.0))
    return found
