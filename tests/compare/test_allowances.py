"""Tolerances of a scenario: which differences they allow, leaf by leaf, and that each says why."""

import numpy as np
import pytest

from explorer.compare.graphs.sameness import within
from explorer.compare.results.answers import allowance
from explorer.compare.results.comparison import NOT_MEASURED
from explorer.compare.results.verdicts import judge
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.results import Leaf, OracleResult, Result
from explorer.model.trees import Branch
from explorer.scenario.declaration import Tolerance

CASE = GradCase("grad", 0, "all")
ONE = np.array([1.0, 100.0], np.float32)


def answer(dx: AnyArray, dw: AnyArray = ONE) -> Result:
    leaves = Leaf("dx", pack(dx)), Leaf("dw", pack(dw))
    return Result(outcome="ok", structure=Branch(("dx", "dw")), leaves=leaves)


def allowed(left: Result, right: Result, *tolerances: Tolerance) -> str:
    return allowance(CASE, left, right, tolerances, (NOT_MEASURED, NOT_MEASURED))


@pytest.mark.parametrize(
    ("factor", "reason"), [(1.0009, "meant"), (1.0011, ""), (0.9991, "meant"), (0.9989, "")]
)
def test_a_relative_tolerance_counts_by_the_greater_of_two_elements(
    factor: float, reason: str
) -> None:
    near = answer((ONE * np.float64(factor)).astype(np.float32))
    assert allowed(answer(ONE), near, Tolerance("meant", rtol=1e-3)) == reason
    assert allowed(near, answer(ONE), Tolerance("meant", rtol=1e-3)) == reason


def test_an_absolute_tolerance_is_in_the_units_of_the_values() -> None:
    near = answer(ONE + np.float32(0.5))
    assert allowed(answer(ONE), near, Tolerance("meant", atol=0.51)) == "meant"
    assert allowed(answer(ONE), near, Tolerance("meant", atol=0.49)) == ""


def test_a_tolerance_is_for_its_leaves_and_its_cases_alone() -> None:
    near = answer(ONE * np.float32(1.01))
    for tolerance, reason in (
        (Tolerance("meant", rtol=0.1, leaves=("dx",)), "meant"),
        (Tolerance("meant", rtol=0.1, leaves=("dw",)), ""),
        (Tolerance("meant", rtol=0.1, when={"weights": "all", "position": 0}), "meant"),
        (Tolerance("meant", rtol=0.1, when={"weights": None}), ""),
    ):
        assert allowed(answer(ONE), near, tolerance) == reason


def test_every_leaf_that_differs_needs_a_tolerance_and_each_reason_is_told_once() -> None:
    both = answer(ONE * np.float32(1.01), ONE * np.float32(1.01))
    first = Tolerance("of dx", rtol=0.1, leaves=("dx",))
    second = Tolerance("of dw", rtol=0.1, leaves=("dw",))
    assert allowed(answer(ONE), both, first) == ""
    assert allowed(answer(ONE), both, first, second) == "of dx; of dw"
    assert allowed(answer(ONE), both, Tolerance("all", rtol=0.1)) == "all"


def test_no_tolerance_allows_another_shape_dtype_or_structure() -> None:
    wide = Tolerance("meant", rtol=1e6, atol=1e6)
    assert allowed(answer(ONE), answer(ONE.reshape(2, 1)), wide) == ""
    assert allowed(answer(ONE), answer(ONE.astype(np.float64)), wide) == ""
    bare = Result(outcome="ok", structure="dx", leaves=(Leaf("dx", pack(ONE)),))
    assert allowed(answer(ONE), bare, wide) == ""


def test_an_allowed_difference_is_close_and_the_report_says_why() -> None:
    results = {"torch-tape": answer(ONE), "mindspore-tape": answer(ONE * np.float32(1.01))}
    oracle = OracleResult("not_defined")
    told = judge(CASE, results, oracle, tolerances=(Tolerance("meant", rtol=0.1),))
    assert (told.verdict, told.expected, told.reason) == ("close", True, "meant")
    strict = judge(CASE, results, oracle, tolerances=(Tolerance("meant", rtol=1e-3),))
    assert (strict.verdict, strict.expected) == ("differs", False)
    same = {"torch-tape": answer(ONE), "mindspore-tape": answer(ONE)}
    assert judge(CASE, same, oracle, tolerances=(Tolerance("meant", rtol=0.1),)).reason == ""


SPECTRUM = np.array([1 + 1j, 2 + 2j], np.complex64)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ([1 + 50j, 2 - 70j], ""),
        ([1 + 1.0009j, 2 + 2j], "meant"),
        # |0.0015j| beside |1 + 1.0015j| = 1.4153, and 0.0025 beside 2.83.
        ([1 + 1.0015j, 2 + 2j], ""),
        ([1 + 1j, 2.0025 + 2j], "meant"),
        ([1 + 1j, 2.0035 + 2j], ""),
        ([1 + 1j, complex(2, np.nan)], ""),
        ([1 + 1j, complex(2, np.inf)], ""),
    ],
)
def test_a_tolerance_counts_complex_numbers_by_their_magnitudes(
    other: list[complex], reason: str
) -> None:
    near = answer(np.array(other, np.complex64))
    assert allowed(answer(SPECTRUM), near, Tolerance("meant", rtol=1e-3)) == reason


def test_complex_numbers_that_are_not_finite_equal_the_same_parts_alone() -> None:
    one = np.array([complex(np.nan, 1), complex(np.inf, 2)], np.complex64)
    other = np.array([complex(np.nan, 2), complex(np.inf, 2)], np.complex64)
    assert within(one, one, (0.0, 0.0))
    assert not within(one, other, (1.0, 100.0))
