"""The outcomes of an exploration's jobs, as the records that a report holds."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from msgspec.structs import replace

from explorer.compare.graphs.levels import lent_levels, with_levels
from explorer.compare.results.answers import NO_NOISE
from explorer.compare.results.comparison import compare, movements
from explorer.exploration.jobs import JobKey, Jobs, What, levels_of, measuring_case
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import Framework, beside, engine_named
from explorer.model.errors import MissingFrameworkError
from explorer.model.failures import Failure, Loss
from explorer.model.findings import NoiseUnknown, RecordedOtherwise, ReportFinding
from explorer.model.graph import GradGraph
from explorer.model.report import CaseReport
from explorer.model.results import Captured, Leaf, OracleResult, Result, ResultNoise
from explorer.numeric.differences import elementwise_difference, real_parts
from explorer.numeric.summaries import excerpt
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome

NOT_DEFINED = Result(outcome="not_defined", error=Failure("NotDefined", kind="no_net"))
NO_ORACLE = OracleResult("not_defined", error=Failure("NotDefined", kind="no_torch_net"))
LEFT_OUT_ORACLE = OracleResult("not_asked", error=Failure("NotAsked", kind="no_oracle"))
"""The oracle's answer where it cannot give one, and where the user does not want it."""

INTERRUPTED = Lost("not_asked", Loss(kind="interrupted"))
"""The outcome of a job that was not finished when Ctrl-C came."""

PLAIN = GradCase("grad")
"""A case of those whose measuring case returns the outputs of the net too: its noise has theirs."""

Index = tuple[int, ...]


class Outcomes:
    """The outcomes of the jobs of an exploration so far, ``by_key``.

    Its methods raise MissingFrameworkError if a framework cannot be imported any more during the run.
    A job that is not finished counts as interrupted.
    """

    def __init__(self, jobs: Jobs) -> None:
        self.by_key: dict[JobKey, JobOutcome] = {}
        self._jobs = jobs
        self._nets = jobs.nets
        self._expected: set[JobKey] = set()
        self._waiting_for: dict[GradCase, set[JobKey]] = {}
        self._noisy: dict[str, GradGraph] = {}

    def expect(self, jobs: Iterable[Job]) -> list[Job]:
        """Note that these jobs are on their way, but for those that are so already."""
        jobs = [job for job in jobs if job.key not in self._expected]
        self._expected.update(job.key for job in jobs)
        for job in jobs:
            if job.key.what in ("result", "estimate"):
                self._waiting_for.setdefault(job.key.on, set()).add(job.key)
        measured = [job.key for job in jobs if job.key.what == "noise"]
        for case, keys in self._waiting_for.items():
            if keys:  # else its results are there already
                measuring = [measuring_case(it, self._jobs.most) for it in (case, PLAIN)]
                keys.update(key for key in measured if key.on in measuring)
        return jobs

    def note(self, key: JobKey, outcome: JobOutcome) -> list[GradCase]:
        """Note the outcome of a job; the cases that waited for nothing else."""
        if isinstance(outcome, Captured):
            # A worker does not know in which environment it runs.
            graphs = (replace(it, engine=key.engine) for it in outcome.graphs)
            outcome = replace(outcome, graphs=tuple(graphs))
            if key.what == "levels":
                # Its graph has the noise; its values are those of the plain capture.
                outcome = without_values(outcome)
            self._noisy.clear()
        self.by_key[key] = outcome
        waiting = [case for case, keys in self._waiting_for.items() if key in keys]
        for case in waiting:
            self._waiting_for[case].remove(key)
        return [case for case in waiting if not self._waiting_for[case]]

    def forget_values(self, what: What, on: Hashable = None) -> None:
        """Let go of the values in results or captures that were compared."""
        for key, outcome in self.by_key.items():
            if (key.what, key.on) == (what, on):
                self.by_key[key] = without_values(outcome)

    def is_reached(self, case: GradCase) -> bool:
        """Whether any engine has a result for the case."""
        results = [self.result(name, case) for name in self._nets.requests]
        return any(result.outcome != "not_asked" for result in results)

    def result(self, name: str, case: GradCase) -> Result:
        """An engine's answer to a case."""
        is_there = name in self._nets.requests
        result: Result = self._reply(JobKey("result", name, case)) if is_there else NOT_DEFINED
        return result

    def estimate(self, case: GradCase) -> OracleResult:
        """The oracle's answer to a case: by the first framework's net, and by the others' beside it."""
        answers: list[OracleResult] = []
        for framework in self._jobs.referees or ():
            reply = self._reply(JobKey("estimate", f"{framework}-tape", case))
            if isinstance(reply, Result):
                # The engines' own answers say already how their framework's worker was lost.
                is_said = self._nets.without_answer(framework) is not None
                reply = OracleResult(reply.outcome, error=None if is_said else reply.error)
            answers.append(reply)
        if not answers:
            return LEFT_OUT_ORACLE if self._jobs.referees is None else NO_ORACLE
        answers.sort(key=lambda answer: not answer.estimates)
        beside = tuple(answer for answer in answers[1:] if answer.estimates)
        return replace(answers[0], beside=beside)

    def noise(self, case: GradCase, engines: Iterable[str]) -> dict[str, ResultNoise]:
        """The noise of the engines' answers to a case, as far as it was measured.

        A graph engine has its tape's: it runs the same kernels, in another order at most.
        """
        on = measuring_case(case, self._jobs.most)
        keys = {name: JobKey("noise", beside(name, "tape"), on) for name in engines}
        measured = {name: self._measured(key) for name, key in keys.items()}
        return {name: it for name, it in measured.items() if isinstance(it, ResultNoise)}

    def _measured(self, key: JobKey) -> JobOutcome:
        """What was measured; of a large net, of which one tape's noise is, that; None where there is none."""
        if key in self.by_key:
            return self.by_key[key]
        alike = [it for it in self.by_key if (it.what, it.on) == (key.what, key.on)]
        tapes = (it for it in alike if engine_named(it.engine).style == "tape")
        return next((self.by_key[it] for it in tapes), None)

    def captured(self, name: str) -> Captured:
        """An engine's graphs; none, with the reason in the result, when it could not capture."""
        key = JobKey("graphs", name)
        reply, lost = self._reply(key), self.by_key.get(key)
        if isinstance(reply, Result):
            # The worker of a fault is not lost, and may have answered all the same.
            if isinstance(lost, Lost) and lost.is_fault:
                reply = replace(reply, outcome="unsupported")
            return Captured((), reply)
        captured: Captured = reply
        if not captured.graphs:
            return captured
        *earlier, last = captured.graphs
        # Asked for several times in a report; to look up the levels of a large graph takes a while.
        if name not in self._noisy:
            measured = self._measured(JobKey("levels", levels_of(name)))
            if isinstance(measured, Captured) and measured.graphs:
                is_own = JobKey("levels", name) in self.by_key
                with_noise = with_levels if is_own else lent_levels
                last = with_noise(last, measured.graphs[-1])
            self._noisy[name] = last
        return replace(captured, graphs=(*earlier, self._noisy[name]))

    def _reply(self, key: JobKey) -> Any:
        """The reply to a job; a Result that says why where there is none."""
        failed = self._nets.without_answer(engine_named(key.engine).framework)
        outcome = failed or self.by_key.get(key, INTERRUPTED)
        if isinstance(outcome, MissingFrameworkError):
            raise outcome
        if isinstance(outcome, Lost):
            return Result(outcome=outcome.outcome, error=outcome.failure)
        return outcome


# Noise that was not measured


def losses(outcomes: Mapping[JobKey, JobOutcome]) -> tuple[ReportFinding, ...]:
    """A remark on each framework whose noise was not measured.

    A worker was lost meanwhile, or its version cannot measure any. A call without any answer has none.
    """
    unknown: dict[Framework, Failure] = {}
    for key, outcome in outcomes.items():
        error = outcome.failure if isinstance(outcome, Lost) else None
        if isinstance(outcome, ResultNoise) and outcome.error:
            error = outcome.error if outcome.error.kind == "older_version" else None
        if error is not None and key.what in ("noise", "levels"):
            unknown.setdefault(engine_named(key.engine).framework, error)
    return tuple(ReportFinding(fact=NoiseUnknown(*item)) for item in unknown.items())


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
            known = noise.get(engine)
            moved, drawn = movements(known), known.drawn if known else ()
            compared = compare(record.result, plain, noise=(moved, moved), drawn=drawn)
            # It is altered where it differs by more than rounding.
            fact = RecordedOtherwise(engine, sizes, compared.verdict == "differs")
            yield ReportFinding(fact=fact, names=tuple(sizes))


def altered_engines(findings: Iterable[ReportFinding]) -> frozenset[str]:
    """The engines whose recorded graph shows another computation than that of their plain call."""
    recorded = (it.fact for it in findings if isinstance(it.fact, RecordedOtherwise))
    return frozenset(it.engine for it in recorded if it.is_altered)


def _different(recorded: Result, plain: Result) -> dict[str, float]:
    """The greatest difference of each leaf that is not the same bit for bit."""
    others = {leaf.name: unpack(leaf.value) for leaf in plain.leaves}
    found: dict[str, float] = {}
    for leaf in recorded.leaves:
        values, other = unpack(leaf.value), others.get(leaf.name)
        if other is None or other.shape != values.shape or values.dtype.kind not in "fc":
            continue
        # In parts: a complex number is a NaN as soon as one of its parts is.
        one, another = (real_parts(it).astype(np.float64) for it in (values, other))
        if not np.array_equal(one, another, equal_nan=True):
            found[leaf.name] = float(elementwise_difference(one, another).max(initial=0.0))
    return found


# What a report keeps of large tensors once a case is judged


def abridged(report: CaseReport) -> CaseReport:
    """A case whose large tensors are excerpts; the elements that its differences name stay."""
    differences = [report.greatest] if report.greatest else []
    indices: dict[str, list[Index]] = {}
    for difference in chain(differences, *(group.marks for group in report.groups)):
        if difference.what == "value":
            indices.setdefault(difference.leaf, []).append(difference.index)
    results = {}
    for engine, result in report.results.items():
        leaves = [abridged_leaf(leaf, indices.get(leaf.name, ())) for leaf in result.leaves]
        results[engine] = replace(result, leaves=tuple(leaves))
    return replace(report, results=results)


def abridged_leaf(leaf: Leaf, indices: Sequence[Index] = ()) -> Leaf:
    """A leaf, a large one as an excerpt with the elements at ``indices``."""
    # A complex number has one index more, that of its part.
    shape = leaf.value.shape
    places = (int(np.ravel_multi_index(index[: len(shape)], shape)) for index in indices)
    return Leaf(leaf.name, excerpt(leaf.value, places))


def without_values(reply: Any) -> Any:
    """A reply of whose result only the outcome is needed."""
    if isinstance(reply, Captured):
        return replace(reply, result=without_values(reply.result))
    is_result = isinstance(reply, Result)
    return replace(reply, leaves=(), structure="") if is_result else reply
