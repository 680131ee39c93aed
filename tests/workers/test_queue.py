"""The queue: every job once, in a worker that may take it; failures stop the work or are outcomes."""

import dataclasses
import time

import pytest

from explorer.model.engines import WorkerKind
from explorer.model.errors import MissingFrameworkError, UsageError, WorkerFaultError
from explorer.text.failures import message
from explorer.text.language import said_in
from explorer.workers.process import WorkerProcess
from explorer.workers.protocol import Lost
from explorer.workers.queue import CROWDED, Job, JobQueue, carry_out
from explorer.workers.workers import Workers
from tests.support.worker_targets import Word

STOPPED_SECONDS = 30
"""A time by which a queue is stopped on any machine; a request would take twenty times as long."""


def job(name: str, text: str, *kinds: WorkerKind) -> Job:
    target = f"tests.support.worker_targets:{name}"
    return Job(text, "words", kinds or ("torch",), target, Word(text), Word)


@pytest.mark.slow
def test_outcomes_come_by_key_in_the_order_of_the_jobs() -> None:
    steps: list[tuple[str, int, int]] = []
    jobs = [job("echo", "a", "torch", "mindspore"), job("echo", "b"), job("echo", "c", "mindspore")]
    with Workers() as workers:
        outcomes = carry_out(jobs, workers, lambda *step: steps.append(step))
    assert list(outcomes.items()) == [("a", Word("a")), ("b", Word("b")), ("c", Word("c"))]
    assert sorted(steps) == [("words", 1, 3), ("words", 2, 3), ("words", 3, 3)]


@pytest.mark.slow
def test_a_lost_worker_and_a_missing_package_are_outcomes_of_their_jobs_alone() -> None:
    jobs = [job("evaluated", "os._exit(7)"), job("lacks", "mindspore"), job("echo", "after")]
    with Workers() as workers:
        outcomes = carry_out(jobs, workers)
    assert isinstance(outcomes["os._exit(7)"], Lost)
    assert isinstance(outcomes["mindspore"], MissingFrameworkError)
    assert outcomes["after"] == Word("after")


def test_a_fault_of_our_own_stops_the_work() -> None:
    with Workers() as workers, pytest.raises(WorkerFaultError, match="planted"):
        carry_out([job("raises", "planted"), job("echo", "never asked")], workers)


def test_what_a_job_refuses_is_said_in_the_reader_s_language() -> None:
    with said_in("zh"), Workers() as workers, pytest.raises(UsageError, match="只能按关键字传入"):
        carry_out([job("refuses", "Net.forward")], workers)


def test_a_fault_in_an_isolated_job_is_its_outcome_and_names_the_place() -> None:
    at_fault = dataclasses.replace(job("raises", "planted"), isolated=True)
    with Workers() as workers:
        outcomes = carry_out([at_fault, job("echo", "after")], workers)
    lost = outcomes["planted"]
    assert isinstance(lost, Lost)
    assert (lost.outcome, lost.is_fault) == ("crashed", True)
    assert "ZeroDivisionError: planted (explorer/workers/serving.py:" in message(lost.failure)
    assert outcomes["after"] == Word("after")


@pytest.mark.slow
def test_jobs_may_be_added_while_others_are_under_way_and_after_all_are_done() -> None:
    keys = []
    with Workers() as workers, JobQueue(workers) as queue:
        queue.add([job("echo", "a")])
        for finished, _ in queue.finished():
            keys.append(finished.key)
            if finished.key == "a":
                queue.add([job("echo", "b", "mindspore")])
        queue.add([job("echo", "c")])
        keys += [finished.key for finished, _ in queue.finished()]
    assert keys == ["a", "b", "c"]


def test_jobs_that_are_added_ahead_are_carried_out_before_those_that_wait() -> None:
    with Workers() as workers, JobQueue(workers) as queue:
        # Nobody begins before all of them wait.
        queue.add([job("echo", "a"), job("echo", "b")], start=False)
        queue.add([job("echo", "c"), job("echo", "d")], ahead=True)
        keys = [finished.key for finished, _ in queue.finished()]
    assert keys == ["c", "d", "a", "b"]


@pytest.mark.slow
def test_without_a_start_those_at_work_take_what_they_may_and_nobody_else_begins() -> None:
    keys = []
    with Workers() as workers, JobQueue(workers) as queue:
        queue.add([job("takes", "0.5", "torch")])
        of_either = [job("echo", text, "torch", "mindspore") for text in "ab"]
        queue.add([*of_either, job("echo", "c", "mindspore")], start=False)
        for finished, _ in queue.finished():
            keys.append(finished.key)
            if finished.key == "b":
                break
        assert workers.states()["mindspore"] == "not started"
        queue.add([])
        keys += [finished.key for finished, _ in queue.finished()]
    assert keys == ["0.5", "a", "b", "c"]


class Said(Workers):
    """Workers that are said to hold so many bytes each."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def memory(self, kind: WorkerKind) -> int:
        return self.size


@pytest.mark.slow
@pytest.mark.parametrize(("size", "meet"), [(CROWDED, True), (CROWDED + 1, False)])
def test_no_two_workers_compile_at_once_while_one_holds_much(size: int, meet: bool) -> None:
    kinds: tuple[WorkerKind, ...] = ("mindspore", "torch")
    jobs = [job("takes", "1", kind) for kind in kinds]
    jobs = [dataclasses.replace(job, key=job.kinds, compiles=True) for job in jobs]
    with Said(size) as workers:
        carry_out([job("echo", "started", kind) for kind in kinds], workers)
        first, second = carry_out(jobs, workers).values()
    (start, end), (other_start, other_end) = (
        map(float, word.text.split()) for word in (first, second)
    )
    assert (max(start, other_start) < min(end, other_end)) == meet


@pytest.mark.slow
def test_what_does_not_compile_waits_for_no_room() -> None:
    compiling = dataclasses.replace(job("takes", "1", "mindspore"), compiles=True)
    waiting = dataclasses.replace(job("takes", "0", "torch"), compiles=True)
    keys = []
    with Said(CROWDED + 1) as workers, JobQueue(workers) as queue:
        queue.add([compiling])
        time.sleep(0.2)  # until it is taken
        queue.add([waiting, job("echo", "beside", "torch")])
        keys = [done.key for done, _ in queue.finished()]
    assert keys.index("beside") < keys.index("0")


@pytest.mark.slow
def test_who_waits_for_room_to_compile_is_not_overtaken() -> None:
    def compiling(text: str, kind: WorkerKind) -> Job:
        return dataclasses.replace(job("takes", text, kind), compiles=True)

    with Said(CROWDED + 1) as workers, JobQueue(workers) as queue:
        queue.add([compiling("1", "mindspore")])
        time.sleep(0.2)  # until it is taken
        queue.add([compiling("0", "torch"), compiling("0.1", "mindspore")])
        keys = [done.key for done, _ in queue.finished()]
    assert keys == ["1", "0", "0.1"]


class SlowToStart(Workers):
    """Workers whose processes are started a while after they are asked for."""

    def _process(self, kind: WorkerKind) -> WorkerProcess:
        time.sleep(0.5)
        return super()._process(kind)


def interrupt(workers: Workers) -> None:
    with JobQueue(workers) as queue:
        queue.add([job("hangs", "600")])
        raise KeyboardInterrupt


@pytest.mark.slow
def test_a_worker_that_starts_while_the_queue_is_stopped_is_not_waited_for() -> None:
    began = time.monotonic()
    with SlowToStart(request_seconds=600) as workers, pytest.raises(KeyboardInterrupt):
        interrupt(workers)
    assert time.monotonic() - began < STOPPED_SECONDS


@pytest.mark.slow
def test_no_job_is_no_work() -> None:
    with Workers() as workers:
        assert carry_out([], workers) == {}
