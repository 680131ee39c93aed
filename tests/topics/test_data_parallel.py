"""Two real ranks a framework: the mean, the sum, and that no process is left; and what is said of ranks."""

import dataclasses
import uuid
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import psutil
import pytest

from explorer.model.measurement import Figures, Measurement
from explorer.topics.data_parallel.findings import Ranks, along
from explorer.topics.data_parallel.processes import BY_HAND
from explorer.topics.data_parallel.questions import TOPIC, TWO_PROCESSES
from explorer.topics.measurements import measure
from explorer.topics.question import Question, Target
from explorer.workers.workers import Workers
from tests.support.rulings import USUAL, Case, Written, check
from tests.support.tellings import told

both = [
    pytest.param("mindspore", marks=[pytest.mark.mindspore, pytest.mark.whole]),
    pytest.param("torch", marks=pytest.mark.torch),
]

MARK = f"EXPLORER_RANKS_OF_{uuid.uuid4().hex}"
"""A variable of the environment that only processes started from here have: other tests may run ranks."""


@pytest.fixture(scope="module")
def crew() -> Iterator[Workers]:
    """Workers whose ranks can be told from those of other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, "1")
        with Workers(TOPIC.seconds) as workers:
            yield workers


def ranks_left() -> list[str]:
    """The command lines of ranks that were started from here and still run."""
    lines = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        line = " ".join(process.info["cmdline"] or ())
        if MARK in (process.info["environ"] or {}) and "topics/data_parallel/processes.py" in line:
            lines.append(line)
    return lines


@pytest.mark.parametrize("framework", both)
@pytest.mark.sample
@pytest.mark.whole
def test_both_ranks_get_the_mean_and_the_sum_of_their_gradients(
    framework: str, crew: Workers
) -> None:
    measured = measure(TWO_PROCESSES.by(framework).measurements(Target()), crew)
    ranks = measured[TWO_PROCESSES.measurement_name(framework)].figures["ranks"]
    assert [rank["local"] for rank in ranks] == [[[2.0, 4.0, 6.0]], [[84.0, 168.0, 252.0]]]
    assert all(rank["mean"] == [[43.0, 86.0, 129.0]] for rank in ranks)
    assert all(rank["sum"] == [[86.0, 172.0, 258.0]] for rank in ranks)
    # One step of 2^-10 from [2, 3, 4] along the mean, on both ranks.
    step = np.array([[2, 3, 4]]) - np.array([[43, 86, 129]]) / 1024
    assert all(rank["after_step"] == step.tolist() for rank in ranks)
    assert not ranks_left()


@pytest.mark.torch
def test_ranks_that_take_too_long_are_stopped_and_say_so(crew: Workers) -> None:
    (usual,) = TWO_PROCESSES.by("torch").measurements(Target())
    hurried = Measurement(
        name="hurried", kind="torch", target=usual.target, options={"seconds": 0.5}
    )
    outcome = measure([hurried], crew)["hurried"]
    assert outcome.error
    assert (outcome.outcome, outcome.error.type) == ("raised", "TimeoutError")
    assert "stopped after 0.5 s" in outcome.error.message
    assert not ranks_left()


def rank(number: int, mean: float, own_seed: float, after: float, **routes: Any) -> dict[str, Any]:
    """What one of two ranks with gradients 2 and 4 could report; ``own_seed`` and ``after`` are weights.

    ``routes`` gives what each way to take a step took from the weight, by style.
    """
    return {
        "rank": number,
        "local": [2.0 + 2.0 * number],
        "mean": [mean],
        "sum": [6.0],
        "after_step": [1.0],
        "first_weights_one_seed": [0.5],
        "first_weights_own_seed": [own_seed],
        "after_step_own_seed": [after],
        "routes": routes,
        "printed": {"raised": "RuntimeError", "message": "no accelerator"},
    }


def routes(number: int, *averaging: str) -> dict[str, Any]:
    """What three ways to take a step took from a rank's weight: the mean, or its own gradient."""
    own = [2.0 + 2.0 * number]
    return {name: [3.0] if name in averaging else own for name in ("loop", "cell", BY_HAND)}


ALL = ("loop", "cell", BY_HAND)
CELL = ("cell", BY_HAND)


def averages(
    graph: tuple[str, ...],
    tape: tuple[str, ...],
    *,
    ddp: float = 3.0,
    torch_evens: bool = True,
    mindspore_evens: bool = False,
    one_rank_alone: bool = False,
) -> Written:
    """These ways average in MindSpore, DDP gives ``ddp``, and a start is sent around.

    With ``one_rank_alone`` rank 0 has its gradients averaged by every way.
    """
    figures: dict[tuple[Question, str], Figures] = {}
    for framework, evens in (("mindspore", mindspore_evens), ("torch", torch_evens)):
        first = (ALL, ALL) if one_rank_alone else (graph, tape)
        by_style = [routes(0, *way) for way in first] + [routes(1, *graph), routes(1, *tape)]
        ranks = [
            rank(0, ddp, 0.1, 0.2, graph=by_style[0], tape=by_style[1]),
            rank(1, ddp, 0.3, 0.2 if evens else 0.4, graph=by_style[2], tape=by_style[3]),
        ]
        figures[TWO_PROCESSES, framework] = {"ranks": ranks}
    return figures


SEED_ON_BOTH = "Set one seed on every rank in both"
IN_MINDSPORE = "Set one seed on every rank in MindSpore;"
TOGETHER = f"by loop in tape style, cell, {BY_HAND}: [3] and [3] (MindSpore)"

CASES = [
    Case(61, averages(ALL, ALL, torch_evens=False), "holds", SEED_ON_BOTH),
    Case(61, averages(ALL, ALL), "holds_with_changes", IN_MINDSPORE),
    Case(61, averages(ALL, ALL, mindspore_evens=True), "holds_with_changes", "only where data is"),
    # The reducer is the caller's own: it makes no way right, and none wrong.
    Case(61, averages(ALL[:2], ALL[:2]), "holds_with_changes", "Set one seed"),
    Case(61, averages(ALL, CELL), "depends_on_style", "in graph style. Set one seed"),
    # Ways that took the same are told together.
    Case(61, averages(CELL, ALL), "depends_on_style", "in tape style. Set one seed", TOGETHER),
    Case(61, averages(CELL, CELL), "does_not_hold", "with cell; elsewhere call nn.Distributed"),
    Case(61, averages(("cell",), ("cell",)), "does_not_hold", "with cell. Set one seed"),
    Case(61, averages(CELL, ("loop", BY_HAND)), "does_not_hold", "with none of these; elsewhere"),
    Case(61, averages(ALL, ALL, ddp=6.0), "does_not_hold", USUAL),
    # A way must average on every rank.
    Case(61, averages(CELL, CELL, one_rank_alone=True), "does_not_hold"),
]


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_on_averages_follows_what_the_ranks_report(case: Case) -> None:
    check(case, dataclasses.replace(TOPIC.claims[61], expects={"mean": [3.0]}))


@pytest.mark.parametrize(
    ("second", "of_mean", "of_seeds"),
    [
        (rank(1, 3.0, 0.1, 0.2), "which is the mean", "make no difference"),
        (rank(1, 3.5, 0.3, 0.2), "which is not the mean", "which agree after one step"),
        (rank(1, 3.0, 0.3, 0.4), "which is the mean", "which still differ after one step"),
    ],
)
def test_what_the_ranks_share_is_told(second: Any, of_mean: str, of_seeds: str) -> None:
    ranks = {"ranks": [rank(0, 3.0, 0.1, 0.2), second]}
    mean, seeds, *_ = told(TOPIC, {(TWO_PROCESSES, "torch"): ranks}).findings
    assert of_mean in mean
    assert of_seeds in seeds


REFUSED = {"raised": "ValueError", "message": "no ranks"}


@pytest.mark.parametrize(
    ("steps", "direction", "consequence"),
    [
        ([[3.0], [3.0]], "along_mean", "each rank steps along the mean"),
        ([[2.0], [4.0]], "along_own", "each rank steps along its own gradient, without a message"),
        # Each of the two has the gradient of the other, or one of them the mean.
        ([[4.0], [2.0]], "along_other", "the ranks step neither along the mean nor"),
        ([[3.0], [4.0]], "along_other", "the ranks step neither along the mean nor"),
        ([[3.0], REFUSED], None, "no rank gets on: ValueError: no ranks"),
    ],
)
def test_what_the_ranks_stepped_along(
    steps: list[Any], direction: str | None, consequence: str
) -> None:
    ranks = [rank(0, 3.0, 0.1, 0.2), rank(1, 3.0, 0.1, 0.2)]
    assert along(msgspec.convert(ranks, Ranks), steps) == direction
    for number, step in enumerate(steps):
        ranks[number]["routes"] = {"graph": {"loop": step}}
    telling = told(TOPIC, {(TWO_PROCESSES, "mindspore"): {"ranks": ranks}})
    assert consequence in telling.findings[-1]
