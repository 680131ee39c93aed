"""The outcomes of an exploration's jobs, as the records that a report holds."""

from collections.abc import Iterable
from typing import Any

import msgspec

from explorer.exploration.noise import leveled, losses, noise_of, question
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES, Framework
from explorer.model.errors import MissingFrameworkError
from explorer.model.findings import ReportFinding
from explorer.model.graph import GradGraph
from explorer.model.noise import ResultNoise
from explorer.model.results import Captured, Failure, OracleResult, Result
from explorer.scenario.settling import Nets
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome

NOT_DEFINED = Result(outcome="not_defined", error=Failure("NotDefined", refusal="no_net"))
NO_ORACLE = OracleResult("not_defined", error=Failure("NotDefined", refusal="no_torch_net"))

INTERRUPTED = Lost("not_asked", "the run was interrupted first")
"""The outcome of a job that was not finished when Ctrl-C came."""


class Outcomes:
    """The outcomes of the jobs of an exploration so far.

    Its methods raise MissingFrameworkError if a framework cannot be imported any more during the run.
    A job that is not finished counts as interrupted.
    """

    def __init__(self, nets: Nets) -> None:
        self._nets = nets
        self._has_oracle = False
        self._waiting_for: dict[GradCase, set[Any]] = {}
        self._by_key: dict[Any, JobOutcome] = {}
        self._noisy: dict[str, GradGraph] = {}

    def expect(self, jobs: list[Job]) -> None:
        """Note that these jobs are on their way."""
        for job in jobs:
            kind, case = job.key[0], job.key[-1]
            if kind == "estimate":
                self._has_oracle = True
            if kind in ("answer", "estimate"):
                self._waiting_for.setdefault(case, set()).add(job.key)
        measured = [job.key for job in jobs if job.key[0] == "noise"]
        for case, keys in self._waiting_for.items():
            keys.update(key for key in measured if keys and key[-1] == question(case))

    def note(self, job: Job, outcome: JobOutcome) -> list[GradCase]:
        """Note the outcome of a job; the cases that waited for nothing else."""
        self._by_key[job.key] = outcome
        if job.key[0] in ("capture", "levels"):
            self._noisy.clear()
        complete = []
        for case, keys in self._waiting_for.items():
            if job.key in keys:
                keys.remove(job.key)
                if not keys:
                    complete.append(case)
        return complete

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
        reply = self._reply(ENGINES[name].framework, ("answer", name, case))
        if isinstance(reply, Lost):
            return Result(outcome=reply.outcome, error=reply.failure)
        result: Result = reply
        return result

    def estimate(self, case: GradCase) -> OracleResult:
        """The oracle's answer to a case."""
        # The engines' own answers say already how PyTorch's worker was lost.
        if "torch" in self._nets.lost:
            return OracleResult(self._nets.lost["torch"].outcome)
        if not self._has_oracle:
            return NO_ORACLE
        reply = self._reply("torch", ("estimate", case))
        if isinstance(reply, Lost):
            return OracleResult(reply.outcome, error=reply.failure)
        estimate: OracleResult = reply
        return estimate

    def noise(self, case: GradCase, engines: Iterable[str]) -> dict[str, ResultNoise]:
        """The noise of the engines' answers to a case, as far as it was measured."""
        return noise_of(case, engines, self._by_key)

    @property
    def remarks(self) -> tuple[ReportFinding, ...]:
        """What a reader should know of the noise that could not be measured."""
        return losses(self._by_key)

    def captured(self, name: str) -> Captured:
        """An engine's graphs; none, with the reason in the result, when it could not capture."""
        reply = self._reply(ENGINES[name].framework, ("capture", name))
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

    def _reply(self, framework: Framework, key: Any) -> Any:
        """The reply of a job's target, or the loss of its worker, at the first look or later."""
        if framework in self._nets.lost:
            return self._nets.lost[framework]
        outcome = self._by_key.get(key, INTERRUPTED)
        if isinstance(outcome, MissingFrameworkError):
            raise outcome
        return outcome
