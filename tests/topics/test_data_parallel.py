"""Two real ranks a framework: the mean, the sum, and that no process is left."""

import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import psutil
import pytest

from explorer.model.measurement import Measured, Measurement
from explorer.topics.data_parallel.findings import agree, is_mean
from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.evidence import Evidence
from explorer.topics.measuring import measure
from explorer.topics.question import Target
from explorer.topics.studying import tell
from explorer.workers.workers import Workers
from tests.support.topics import World, judge

both = [
    pytest.param("mindspore", marks=pytest.mark.mindspore),
    pytest.param("torch", marks=pytest.mark.torch),
]

MARK = f"EXPLORER_RANKS_OF_{uuid.uuid4().hex}"
"""A variable of the environment that only processes started from here have: other tests may run ranks."""


@pytest.fixture(scope="module", autouse=True)
def marked() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, "1")
        yield


@pytest.fixture(scope="module")
def measured(marked: None) -> dict[str, Measured]:
    with Workers(TOPIC.seconds) as workers:
        return measure(TOPIC.measurements(Target()), workers)


def ranks_of(measured: dict[str, Measured], framework: str) -> list[dict[str, Any]]:
    ranks: list[dict[str, Any]] = measured[TWO_PROCESSES.measurement_name(framework)].figures[
        "ranks"
    ]
    return ranks


def ranks_left() -> list[str]:
    """The command lines of ranks that were started from here and still run."""
    lines = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        line = " ".join(process.info["cmdline"] or ())
        if MARK in (process.info["environ"] or {}) and "topics/data_parallel/in_" in line:
            lines.append(line)
    return lines


@pytest.mark.parametrize("framework", both)
def test_both_ranks_get_the_mean_and_the_sum_of_their_gradients(
    measured: dict[str, Measured], framework: str
) -> None:
    ranks = ranks_of(measured, framework)
    assert [rank["local"] for rank in ranks] == [[[2.0, 4.0, 6.0]], [[84.0, 168.0, 252.0]]]
    assert all(rank["mean"] == [[43.0, 86.0, 129.0]] for rank in ranks)
    assert all(rank["sum"] == [[86.0, 172.0, 258.0]] for rank in ranks)
    # One step of 2^-10 from [2, 3, 4] along the mean, on both ranks.
    step = np.array([[2, 3, 4]]) - np.array([[43, 86, 129]]) / 1024
    assert all(rank["after_step"] == step.tolist() for rank in ranks)


@pytest.mark.parametrize(
    ("framework", "alike"),
    [
        pytest.param("mindspore", False, marks=pytest.mark.mindspore),
        pytest.param("torch", True, marks=pytest.mark.torch),
    ],
)
def test_ddp_sends_one_start_to_all_and_mindspore_does_not(
    measured: dict[str, Measured], framework: str, alike: bool
) -> None:
    ranks = ranks_of(measured, framework)
    assert agree(ranks, "first_weights_one_seed")
    assert not agree(ranks, "first_weights_own_seed")
    assert agree(ranks, "after_step_own_seed") == alike


@pytest.mark.parametrize("framework", both)
def test_no_rank_is_left(measured: dict[str, Measured], framework: str) -> None:
    assert ranks_of(measured, framework)
    assert not ranks_left()


@pytest.mark.torch
def test_ranks_that_take_too_long_are_stopped_and_say_so() -> None:
    (usual,) = TWO_PROCESSES.by("torch").measurements(Target())
    hurried = Measurement(
        name="hurried", kind="torch", target=usual.target, options={"seconds": 0.5}
    )
    with Workers() as workers:
        outcome = measure([hurried], workers)["hurried"]
    assert outcome.error
    assert (outcome.outcome, outcome.error.type) == ("raised", "TimeoutError")
    assert "stopped after 0.5 s" in outcome.error.message
    assert not ranks_left()


def rank(number: int, mean: float, own_seed: float, after: float) -> dict[str, Any]:
    """What one of two ranks with gradients 2 and 4 could report; ``own_seed`` and ``after`` are weights."""
    return {
        "rank": number,
        "local": [2.0 + 2.0 * number],
        "mean": [mean],
        "sum": [6.0],
        "after_step": [1.0],
        "first_weights_one_seed": [0.5],
        "first_weights_own_seed": [own_seed],
        "after_step_own_seed": [after],
    }


def world(mean: float = 3.0, torch_evens: bool = True) -> dict[str, Measured]:
    """Both frameworks' two ranks; ``torch_evens``: whether DDP sends one rank's start to all."""
    drifting = [rank(0, mean, 0.1, 0.2), rank(1, mean, 0.3, 0.4)]
    evened = [rank(0, mean, 0.1, 0.2), rank(1, mean, 0.3, 0.2)]
    figures = {"mindspore": drifting, "torch": evened if torch_evens else drifting}
    measured = {}
    for framework, ranks in figures.items():
        name = TWO_PROCESSES.measurement_name(framework)
        measured[name] = Measured(outcome="ok", figures={"ranks": ranks, "processes": 2})
    return measured


@pytest.mark.parametrize(
    ("mean", "torch_evens", "verdict"),
    [
        (3.0, False, "holds"),
        (3.0, True, "holds_with_changes"),
        (6.0, True, "does_not_hold"),
    ],
)
def test_the_verdict_on_averages_follows_what_the_ranks_report(
    mean: float, torch_evens: bool, verdict: str
) -> None:
    evidence = World(world(mean, torch_evens)).evidence
    assert TOPIC.claims[61].judge(evidence, {"mean": [3.0]}).verdict == verdict


@pytest.mark.mindspore
@pytest.mark.torch
def test_data_parallel_training_holds_with_changes_on_the_installed_versions(
    measured: dict[str, Measured],
) -> None:
    ruling = judge(TOPIC.claims[61], measured)
    assert ruling.verdict == "holds_with_changes"
    assert "[[43, 86, 129]]" in ruling.evidence
    assert "torch sends one rank's start" in ruling.advice


def test_a_rank_that_was_told_another_mean_is_noticed() -> None:
    ranks = [rank(0, 3.0, 0.1, 0.2), rank(1, 3.5, 0.1, 0.2)]
    assert not is_mean(ranks)
    assert is_mean([ranks[0], rank(1, 3.0, 0.1, 0.2)])


def test_nothing_measured_is_told_as_nothing() -> None:
    telling = tell(TOPIC, Evidence({}))
    assert (telling.findings, telling.tables, telling.charts) == ((), (), ())
