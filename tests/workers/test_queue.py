"""The queue: every job once, in a worker that may take it; failures stop the work or are outcomes."""

import pytest

from explorer.model.engines import WorkerKind
from explorer.model.errors import MissingFrameworkError, WorkerFaultError
from explorer.workers.protocol import Lost
from explorer.workers.queue import Job, carry_out
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word


def job(name: str, text: str, *kinds: WorkerKind) -> Job:
    target = f"tests.support.worker_targets:{name}"
    return Job(text, "words", kinds or ("torch",), target, Word(text), Word)


def test_outcomes_come_by_key_in_the_order_of_the_jobs() -> None:
    steps: list[tuple[str, int, int]] = []
    jobs = [job("echo", "a", "torch", "mindspore"), job("echo", "b"), job("echo", "c", "mindspore")]
    with Workers() as workers:
        outcomes = carry_out(jobs, workers, lambda *step: steps.append(step))
    assert list(outcomes.items()) == [("a", Word("a")), ("b", Word("b")), ("c", Word("c"))]
    assert sorted(steps) == [("words", 1, 3), ("words", 2, 3), ("words", 3, 3)]


def test_a_lost_worker_and_a_missing_package_are_outcomes_of_their_jobs_alone() -> None:
    jobs = [job("exits", "7"), job("lacks", "mindspore"), job("echo", "after")]
    with Workers() as workers:
        outcomes = carry_out(jobs, workers)
    assert isinstance(outcomes["7"], Lost)
    assert isinstance(outcomes["mindspore"], MissingFrameworkError)
    assert outcomes["after"] == Word("after")


def test_a_fault_of_our_own_stops_the_work() -> None:
    with Workers() as workers, pytest.raises(WorkerFaultError, match="planted"):
        carry_out([job("raises", "planted"), job("echo", "never asked")], workers)


def test_no_job_is_no_work() -> None:
    with Workers() as workers:
        assert carry_out([], workers) == {}
