"""A distributed step beside the step of one process: what each tensor has to do with those of the ranks."""

import numpy as np
import pytest

from explorer.compare.results.ranks import over_ranks
from explorer.model.arrays import AnyArray, pack
from explorer.model.results import Leaf
from explorer.model.trace import Start, Trace
from explorer.words.ranks import first_wrong, rank_lines

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)
WEIGHT = np.array([1.0, -2.0, 0.5], np.float32)


def step(rows: AnyArray, gradient: AnyArray, weight: AnyArray = WEIGHT, loss: float = 1.0) -> Trace:
    start = (Start("x", "input", pack(rows)), Start("w", "parameter", pack(weight)))
    results = (Leaf("loss", pack(np.array(loss, np.float32))), Leaf("dw", pack(gradient)))
    return Trace(name="step", framework="torch", start=start, results=results)


def relations(ranks: list[Trace], whole: Trace) -> dict[str, str]:
    return {tensor.name: tensor.relation for tensor in over_ranks(ranks, whole)}


ONE, OTHER = np.array([1.0, 2.0, 4.0], np.float32), np.array([3.0, 0.0, -1.0], np.float32)
MEAN = (ONE + OTHER) / 2
SHARDS = ROWS[:2], ROWS[2:]


@pytest.mark.parametrize(
    ("ranks", "whole", "relation"),
    [
        ((MEAN, MEAN), MEAN, "each"),
        ((ONE, OTHER), MEAN, "mean"),
        ((ONE, OTHER), ONE + OTHER, "sum"),
        ((ONE, OTHER), MEAN * 8, "scaled"),
        ((ONE, OTHER), ONE, "unlike"),
        ((MEAN, MEAN), MEAN * 1.00005, "each"),
        ((MEAN, MEAN), MEAN * 1.001, "scaled"),
        ((MEAN, MEAN), MEAN * np.float32(np.nan), "unlike"),
    ],
)
def test_a_gradient_is_the_ranks_own_their_mean_their_sum_or_a_multiple(
    ranks: tuple[AnyArray, AnyArray], whole: AnyArray, relation: str
) -> None:
    traces = [step(rows, gradient) for rows, gradient in zip(SHARDS, ranks, strict=True)]
    assert relations(traces, step(ROWS, whole))["dw"] == relation


@pytest.mark.parametrize("off", [0, 2])
def test_a_sum_is_in_float64_and_how_far_it_is_off_is_told(off: int) -> None:
    # In float32 2**24 and one more are the same.
    parts = [np.array([2.0**24], np.float32), *[np.ones(1, np.float32)] * 2]
    traces = [step(rows, part) for rows, part in zip((*SHARDS, ROWS[:1]), parts, strict=True)]
    whole = np.array([2.0**24 + 2 + off], np.float32)
    compared = {tensor.name: tensor for tensor in over_ranks(traces, step(ROWS, whole))}
    assert (compared["dw"].relation, compared["dw"].greatest) == ("sum", off)


def test_the_loss_is_the_mean_or_the_sum() -> None:
    traces = [step(rows, MEAN, loss=loss) for rows, loss in zip(SHARDS, (1.0, 3.0), strict=True)]
    assert relations(traces, step(ROWS, MEAN, loss=2.0))["loss"] == "mean"
    assert relations(traces, step(ROWS, MEAN, loss=4.0))["loss"] == "sum"


@pytest.mark.parametrize(
    ("rows", "relation"),
    [
        (ROWS, "joined"),
        (ROWS[[2, 0, 3, 1]], "shuffled"),
        (ROWS + 1, "unlike"),
        (ROWS[:3], "unlike"),
        (ROWS[:, :2], "unlike"),
    ],
)
def test_the_data_are_the_rows_of_all_ranks(rows: AnyArray, relation: str) -> None:
    traces = [step(shard, MEAN) for shard in SHARDS]
    assert relations(traces, step(rows, MEAN))["x"] == relation


def test_the_first_difference_is_in_the_start_then_the_data_then_the_loss_then_the_gradients() -> (
    None
):
    ranks = [step(ROWS, ONE, loss=5.0), step(ROWS, OTHER, loss=5.0)]
    compared = tuple(over_ranks(ranks, step(ROWS, 7 * ONE, weight=WEIGHT + 1, loss=2.0)))
    assert first_wrong(compared) == compared[0]
    assert compared[0].kind == "start"
    of_data = tuple(over_ranks(ranks, step(ROWS, 7 * ONE, loss=2.0)))
    wrong = first_wrong(of_data)
    assert wrong is not None
    assert (wrong.kind, wrong.relation) == ("data", "each")
    *_, last = rank_lines(of_data, 2, "whole")
    assert (
        last
        == "First difference: data x: every rank has all of whole's rows: the data is not divided"
    )


def test_weights_that_one_rank_alone_has_otherwise_are_unlike() -> None:
    ranks = [step(SHARDS[0], MEAN), step(SHARDS[1], MEAN, weight=WEIGHT * 2)]
    assert relations(ranks, step(ROWS, MEAN))["w"] == "unlike"


def test_what_a_rank_does_not_have_is_unknown_and_no_difference() -> None:
    lacking = Trace(name="step", framework="torch")
    compared = tuple(over_ranks([step(SHARDS[0], MEAN), lacking], step(ROWS, MEAN)))
    assert {tensor.relation for tensor in compared} == {"unknown"}
    assert first_wrong(compared) is None


def test_where_ranks_compute_the_same_as_one_process_it_is_said() -> None:
    traces = [step(shard, MEAN) for shard in SHARDS]
    *_, last = rank_lines(tuple(over_ranks(traces, step(ROWS, MEAN))), 2, "whole")
    assert last == "The ranks together compute what whole computes."
