"""Whether a recorded run gave the plain answer, bit for bit, is measured and told."""

from pathlib import Path

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.exploration.outcomes import altered_engines, recorded_otherwise
from explorer.model.arrays import pack, unpack
from explorer.model.failures import Failure
from explorer.model.results import Captured, Leaf, LeafNoise, Result, ResultNoise
from explorer.scenario.load import load
from explorer.words.findings import sentence
from explorer.workers.workers import Workers
from tests.support.scenario_files import Side, function_net, scenario_text, written


def answer(**leaves: list[float] | list[complex]) -> Result:
    values = tuple(Leaf(name, pack(np.array(numbers))) for name, numbers in leaves.items())
    return Result(outcome="ok", leaves=values)


def told(recorded: Result, plain: Result) -> list[str]:
    findings = recorded_otherwise({"torch-tape": Captured((), recorded)}, {"torch-tape": plain})
    return [sentence(finding) for finding in findings]


def test_the_same_bits_are_no_remark() -> None:
    assert told(answer(dx=[1.0, float("nan")]), answer(dx=[1.0, float("nan")])) == []


def test_another_last_bit_is_told_with_its_size_and_its_leaf_alone() -> None:
    (sentence,) = told(answer(dx=[1.0, 3.0], dy=[2.0]), answer(dx=[1.0, 3.25], dy=[2.0]))
    assert "torch-tape" in sentence
    assert "dx differs by up to 2.5e-01" in sentence
    assert "dy" not in sentence


def test_a_number_that_recording_makes_a_nan_is_told_as_that() -> None:
    (sentence,) = told(answer(dx=[1.0, float("nan")]), answer(dx=[1.0, 0.0]))
    assert "dx is nan or infinite in other elements than without recording" in sentence


def test_a_complex_leaf_is_compared_by_its_parts() -> None:
    nan = complex(0, float("nan"))
    (sentence,) = told(answer(dx=[1 + 1j, 1 + nan]), answer(dx=[4 + 5j, 1 + nan]))
    assert "dx differs by up to 4.0e+00" in sentence
    (sentence,) = told(answer(dx=[1 + nan]), answer(dx=[2 + nan]))
    assert "dx differs by up to 1.0e+00" in sentence


@pytest.mark.parametrize(
    ("recorded", "moved", "is_altered"),
    [
        ([1.0, 3.0], 1e-17, False),
        ([1.0, 3.0 + 1e-15], 1e-15, False),
        ([1.0, 3.0 + 1e-12], 1e-15, True),
        ([1.0, 3.2], 1e-15, True),
        ([1.0, 3.2], 0.1, False),
        ([1.0, float("nan")], float("inf"), True),
        ([1.0, float("inf")], float("inf"), True),
    ],
)
def test_a_graph_is_altered_where_its_result_differs_by_more_than_rounding(
    recorded: list[float], moved: float, is_altered: bool
) -> None:
    movement = LeafNoise("dx", pack(np.full(2, moved)))
    noise = {"torch-tape": ResultNoise((movement,), runs=3)}
    captured = {"torch-tape": Captured((), answer(dx=recorded))}
    findings = list(recorded_otherwise(captured, {"torch-tape": answer(dx=[1.0, 3.0])}, noise))
    assert altered_engines(findings) == ({"torch-tape"} if is_altered else set())


@pytest.mark.mindspore
def test_a_tape_that_is_watched_reads_what_was_overwritten_and_accuses_nobody(
    workers: Workers, tmp_path: Path
) -> None:
    engines = ("mindspore-graph", "mindspore-tape")
    inputs = 'return {"a": np.array([1.0, 2.0, 3.0], np.float32)}'
    filled = Side(None, "b = ops.exp(a)\ny = b.sum()\nb[:] = 0.0\nreturn y")
    scenario = load(written(tmp_path, scenario_text(inputs, filled, None, "a"), "filled.py"))
    report = explore(scenario, workers, engines=engines, selection="main")
    for result in report.cases[0].results.values():
        expected = np.exp([1.0, 2.0, 3.0])
        np.testing.assert_allclose(unpack(result.leaves[0].value), expected, atol=1e-5)
    assert altered_engines(report.findings) == {"mindspore-tape"}
    (alignment,) = report.alignments
    assert (alignment.divergence, alignment.altered) == (None, ("mindspore-tape",))
    assert report.is_as_expected


@pytest.mark.torch
def test_the_derivative_of_prod_that_recording_changes_is_no_divergence(
    workers: Workers, tmp_path: Path
) -> None:
    numbers = "np.tril(np.full((3, 3), 1e13)).astype(np.float32)"
    overflowing = function_net(tmp_path, "return torch.prod(a)", a=numbers)
    report = explore(load(overflowing), workers, selection="main")
    # Every product of all but one element has a zero.
    plain = unpack(report.cases[0].results["torch-tape"].leaves[0].value)
    assert not plain.any()
    assert altered_engines(report.findings) == {"torch-tape"}
    (alignment,) = report.alignments
    assert (alignment.divergence, alignment.altered) == (None, ("torch-tape",))


def test_an_answer_that_is_not_there_is_not_compared() -> None:
    raised = Result(outcome="raised", error=Failure("ValueError", "no"))
    assert told(answer(dx=[1.0]), raised) == []
    assert told(raised, answer(dx=[1.0])) == []
    assert list(recorded_otherwise({"torch-tape": Captured((), answer(dx=[1.0]))}, {})) == []
