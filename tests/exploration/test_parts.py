"""Trials of which one ends PyTorch's worker: all but that one are made."""

from typing import Any, Literal

import pytest

from explorer.exploration.jobs import JobKey, made_in_parts
from explorer.model.causes import SetArguments, Trial, TrialsRequest, Tried
from explorer.model.failures import Loss
from explorer.model.mended import MendedRequest, MendedRun
from explorer.model.requests import CaseRequest
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, JobOutcome
from explorer.workers.workers import Workers
from tests.support.engine_requests import EngineRequests

pytestmark = pytest.mark.torch

NET = "torch_op_that_ends"
ENGINE = "torch-tape"
TARGETS: dict[type[Any], str] = {
    Tried: "explorer.engines.torch.trials:try_out",
    MendedRun: "explorer.engines.torch.mended:capture_mended",
}


def with_arguments(node: str, **arguments: float) -> Trial:
    return Trial((node,), (SetArguments(node=node, arguments={**arguments}),))


class Crew:
    """Workers that carry out jobs."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.requests = EngineRequests(workers, "torch")

    def case(self) -> CaseRequest:
        return CaseRequest(self.requests.net(NET, ENGINE), self.requests.widest(NET))

    def trials(self) -> tuple[Trial, ...]:
        """The operator as it was, with seven other arguments, and in between the one that kills."""
        (graph,) = self.requests.capture(NET, ENGINE).graphs
        node = next(node.id for node in graph.nodes if "scaled" in node.op)
        others = [with_arguments(node, factor=number / 100) for number in range(1, 8)]
        return (Trial((node,)), *others[:4], with_arguments(node, ends=True), *others[4:])

    def job(self, request: Any, reply: type[Any]) -> Job:
        key = JobKey("trials" if reply is Tried else "mended", ENGINE)
        return Job(key, "graphs", ("torch",), TARGETS[reply], request, reply, isolated=True)

    def outcome(self, job: Job) -> JobOutcome:
        return self.workers.call("torch", job.target, job.request, job.reply)


@pytest.fixture(scope="module")
def crew() -> Any:
    """Workers of this file's own: a trial ends them."""
    with Workers() as workers:
        yield Crew(workers)


def test_one_trial_that_kills_the_worker_is_lost_alone(crew: Crew) -> None:
    trials = crew.trials()
    job = crew.job(TrialsRequest(crew.case(), trials), Tried)
    lost = crew.outcome(job)
    assert isinstance(lost, Lost)
    tried = made_in_parts(job, lost, crew.outcome)
    missing = [trial for trial, outputs in zip(trials, tried.outputs, strict=True) if not outputs]
    assert missing == [with_arguments(*trials[0].row, ends=True)]


@pytest.mark.whole
def test_the_graph_with_other_values_is_kept_too(crew: Crew) -> None:
    trials = crew.trials()
    job = crew.job(MendedRequest(crew.case(), (), trials), MendedRun)
    lost = crew.outcome(job)
    run = made_in_parts(job, lost, crew.outcome)
    assert run.graph.engine == ENGINE
    kills = with_arguments(*trials[0].row, ends=True)
    assert [len(outputs) > 0 for outputs in run.tried] == [trial != kills for trial in trials]


def test_what_is_lost_without_a_trial_stays_lost(crew: Crew) -> None:
    job = crew.job(MendedRequest(crew.case(), (), (Trial(("n1",)),)), MendedRun)
    lost = Lost("crashed", Loss(kind="died", code=-11))
    given: list[Job] = []

    def make(part: Job) -> JobOutcome:
        given.append(part)
        return lost

    assert made_in_parts(job, lost, make) is lost
    assert len(given) == 1


@pytest.mark.parametrize("outcome", ["timed_out", "not_asked"])
def test_what_ran_out_of_time_is_not_made_again(
    crew: Crew, outcome: Literal["timed_out", "not_asked"]
) -> None:
    job = crew.job(TrialsRequest(crew.case(), (Trial(("n1",)),)), Tried)
    given: list[Job] = []
    late = Lost(outcome, Loss(kind="not_sent"))
    assert made_in_parts(job, late, given.append) is late
    assert not given
    made_in_parts(job, Lost("crashed", Loss(kind="died", code=-11)), given.append)
    assert given
