"""Which tensors differ in a case, and by how much, on results made by hand."""

import pytest

from explorer.compare.leaf_differences import leaf_differences
from explorer.compare.verdicts import judge
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
    assert [it.leaf for it in both] == ["dy", "dx"]
    assert [it.greatest for it in both] == pytest.approx([2.0, 1.0])
    assert [it.leaf for it in leaf_differences(judged(answer(values(), values() + 2)))] == ["dy"]


def test_results_that_are_no_two_values_differ_in_no_tensor() -> None:
    assert leaf_differences(judged(raised())) == []
    assert leaf_differences(judged(FINE)) == []
