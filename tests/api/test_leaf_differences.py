"""Which tensors differ in a case, and by how much, on results made by hand."""

import pytest

from explorer.api.assertions import leaf_differences
from explorer.compare.results.verdicts import judge
from explorer.model.cases import GradCase
from explorer.model.report import CaseReport
from explorer.model.results import OracleResult, Result
from tests.support.results import FINE, answer, raised, values


def judged(other: Result) -> CaseReport:
    return judge(
        GradCase("grad", 0), {"torch-tape": FINE, "jax-tape": other}, OracleResult("not_defined")
    )


def test_the_greatest_difference_of_each_tensor_is_told_the_greatest_first() -> None:
    both = leaf_differences(judged(answer(values() + 1, values() + 2)))
    assert [name for name, _ in both] == ["dy", "dx"]
    assert [greatest for _, greatest in both] == pytest.approx([2.0, 1.0])
    assert [name for name, _ in leaf_differences(judged(answer(values(), values() + 2)))] == ["dy"]


def test_results_that_are_no_two_values_differ_in_no_tensor() -> None:
    assert leaf_differences(judged(raised())) == []
    assert leaf_differences(judged(FINE)) == []
