"""Whether a recorded run gave the plain answer, bit for bit, is measured and told."""

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.exploration.outcomes import recorded_otherwise
from explorer.model.arrays import pack
from explorer.model.failures import Failure
from explorer.model.results import Captured, Leaf, Result
from explorer.scenario.load import load
from explorer.words.findings import sentence
from explorer.workers.workers import Workers
from tests.support.nets import NETS


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


def test_an_answer_that_is_not_there_is_not_compared() -> None:
    raised = Result(outcome="raised", error=Failure("ValueError", "no"))
    assert told(answer(dx=[1.0]), raised) == []
    assert told(raised, answer(dx=[1.0])) == []
    assert list(recorded_otherwise({"torch-tape": Captured((), answer(dx=[1.0]))}, {})) == []


@pytest.mark.mindspore
@pytest.mark.torch
def test_mindspore_s_tape_in_float64_is_told_and_does_not_accuse_the_net(workers: Workers) -> None:
    report = explore(load(NETS / "gelu_in_double.py"), workers, selection="main")
    findings = [finding for finding in report.findings if finding.kind == "recording"]
    assert findings
    assert all(finding.is_remark and "mindspore-tape" in sentence(finding) for finding in findings)
    assert report.cases[0].expected
    single = explore(load(NETS / "square_transposed.py"), workers, selection="main")
    assert not [finding for finding in single.findings if finding.kind == "recording"]
