"""Two real ranks a framework: the mean, the sum, and that no process is left."""

import uuid
from collections.abc import Iterator

import psutil
import pytest
from explorer.topics.data_parallel.telling import agree, is_mean, is_sum

from explorer.model.measurement import Measurement
from explorer.model.study import StudyRecord
from explorer.topics import data_parallel
from explorer.topics.evidence import Evidence
from explorer.topics.measuring import measure
from explorer.topics.question import Target
from explorer.topics.studying import run
from explorer.workers.workers import Workers

NAMES = [each.name for each in data_parallel.MEASUREMENTS]


MARK = f"EXPLORER_RANKS_OF_{uuid.uuid4().hex}"
"""A variable of the environment that only processes started from here have; ranks of other tests
may run at the same time.
"""


@pytest.fixture(scope="module", autouse=True)
def marked() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, "1")
        yield


@pytest.fixture(scope="module")
def record(marked: None) -> StudyRecord:
    with Workers(data_parallel.STUDY.seconds) as workers:
        return run(data_parallel.STUDY, Target("", "cpu"), workers)


@pytest.mark.parametrize("name", NAMES)
def test_both_ranks_get_the_mean_and_the_sum_of_their_gradients(
    record: StudyRecord, name: str
) -> None:
    ranks = record.figures[name]["ranks"]
    assert [rank["local"] for rank in ranks] == [[[2.0, 4.0, 6.0]], [[84.0, 168.0, 252.0]]]
    assert all(rank["mean"] == [[43.0, 86.0, 129.0]] for rank in ranks)
    assert is_mean(ranks)
    assert is_sum(ranks)
    assert agree(ranks, "after_step")


def test_ddp_sends_one_start_to_all_and_mindspore_does_not(record: StudyRecord) -> None:
    agreed = {name: agree(record.figures[name]["ranks"], "after_step_own_seed") for name in NAMES}
    assert agreed == {
        "data-parallel.two_processes.mindspore": False,
        "data-parallel.two_processes.torch": True,
    }


def test_no_rank_is_left(record: StudyRecord) -> None:
    assert record.measured
    assert not left()


def left() -> list[str]:
    """The command lines of our ranks that still run."""
    running = psutil.process_iter(["cmdline", "environ"])
    lines = [
        " ".join(each.info["cmdline"] or ())
        for each in running
        if MARK in (each.info["environ"] or {})
    ]
    return [line for line in lines if "studies/data_parallel/in_" in line]


def test_ranks_that_take_too_long_are_stopped_and_say_so() -> None:
    hurried = Measurement(
        name="hurried",
        kind="torch",
        target=data_parallel.MEASUREMENTS[1].target,
        options={"seconds": 0.5},
    )
    with Workers() as workers:
        found = measure([hurried], workers)["hurried"]
    assert found.error
    assert (found.outcome, found.error.type) == ("raised", "TimeoutError")
    assert "stopped after 0.5 s" in found.error.message
    assert not left()


def test_nothing_measured_is_told_as_nothing() -> None:
    telling = data_parallel.STUDY.tell(Evidence({}))
    assert (telling.findings, telling.tables, telling.charts) == ((), (), ())
