"""The comparison of results, with planted errors: it must see each of them, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.compare.results import agrees_with_oracle, compare, within
from explorer.compare.tolerances import CENTRAL, CLOSE, MATCH
from explorer.model.arrays import pack
from explorer.model.results import Estimate, OracleResult, Result
from explorer.model.trees import branch
from tests.support.results import FINE, answer, values

# Elements


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_equal_results_match_and_one_leaf_off_by_a_thousandth_differs(dtype: str) -> None:
    good, bad = values(dtype), (values("float64") * 1.004).astype(dtype)
    assert compare(answer(good, good), answer(good, good)).verdict == "match"
    comparison = compare(answer(good, good), answer(good, bad), ("a", "b"))
    assert comparison.verdict == "differs"
    greatest = comparison.greatest
    assert greatest is not None
    assert (greatest.what, greatest.leaf, greatest.engines) == ("value", "dy", ("a", "b"))


def test_one_leaf_times_1_001_differs_in_float32() -> None:
    wrong = answer(values(), values() * np.float32(1.001))
    assert compare(FINE, wrong).verdict == "differs"


def test_a_single_wrong_element_is_found_at_its_index() -> None:
    wrong = values()
    wrong[2, 5] += 0.5
    greatest = compare(FINE, answer(wrong, values())).greatest
    assert greatest is not None
    assert greatest.index == (2, 5)
    assert greatest.abs == pytest.approx(0.5)
    assert greatest.rel == pytest.approx(0.5 / float(wrong[2, 5]))


def test_the_greatest_of_all_leaves_differences_is_reported() -> None:
    greatest = compare(FINE, answer(values() + np.float32(1), values() + np.float32(2))).greatest
    assert greatest is not None
    assert greatest.leaf == "dy"


@pytest.mark.parametrize("dtype", MATCH)
@pytest.mark.parametrize(
    ("table", "times", "verdict"),
    [(MATCH, 0.9, "match"), (MATCH, 1.1, "close"), (CLOSE, 0.9, "close"), (CLOSE, 1.1, "differs")],
)
def test_the_verdict_changes_at_the_absolute_tolerances_of_the_dtype(
    dtype: str, table: dict[str, tuple[float, float]], times: float, verdict: str
) -> None:
    _, atol = table[dtype]
    zeros = answer(np.zeros(3), structure="dx", dtype=dtype)
    shifted = answer(np.full(3, times * atol), structure="dx", dtype=dtype)
    assert compare(zeros, shifted).verdict == verdict


@pytest.mark.parametrize(("dtype", "factor", "verdict"), [
    ("float64", 1 + 1e-8, "match"), ("float64", 1 + 4e-6, "close"), ("float64", 1 + 1e-4, "differs"),
    ("float32", 1 + 1e-6, "match"), ("float32", 1 + 6e-5, "close"), ("float32", 1 + 1e-3, "differs"),
])  # fmt: skip
def test_the_verdict_follows_the_table_of_the_dtype(
    dtype: str, factor: float, verdict: str
) -> None:
    array = values(dtype) * 10
    scaled = (array * factor).astype(dtype)
    assert compare(answer(array, array), answer(array, scaled)).verdict == verdict


def test_integers_are_compared_exactly() -> None:
    array = np.arange(4)
    off_by_one = array + np.array([0, 0, 0, 1])
    assert compare(answer(array, array), answer(array, array)).verdict == "match"
    assert compare(answer(array, array), answer(array, off_by_one)).verdict == "differs"


def test_nan_equals_nan_only_where_both_have_it() -> None:
    holes = values()
    holes[0, 0] = np.nan
    assert compare(answer(holes, holes), answer(holes, holes)).verdict == "match"
    comparison = compare(FINE, answer(holes, values()))
    assert comparison.verdict == "differs"
    assert comparison.greatest is not None
    assert comparison.greatest.abs == np.inf


def test_infinities_of_opposite_sign_differ() -> None:
    up, down = values(), values()
    up[0, 0], down[0, 0] = np.inf, -np.inf
    assert compare(answer(up, up), answer(down, up)).verdict == "differs"
    assert compare(answer(up, up), answer(up, up)).verdict == "match"
    assert compare(answer(up, up), FINE).verdict == "differs"


def test_empty_tensors_match() -> None:
    none = np.zeros((0, 3), np.float32)
    comparison = compare(answer(none, none), answer(none, none))
    assert (comparison.verdict, comparison.greatest) == ("match", None)


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(0, 1), st.floats(0, 1))
def test_nearness_is_mutual(one: float, other: float, rtol: float, atol: float) -> None:
    tolerance = rtol, atol
    near = within(np.array(one), np.array(other), tolerance)
    assert near == within(np.array(other), np.array(one), tolerance)
    assert within(np.array(one), np.array(one), tolerance)


# All but the elements


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (answer(values(), values(), structure=branch("dx", branch("dy"))), "structure"),
        (answer(values(), values().reshape(6, 4)), "shape"),
        (answer(values(), values("float64")), "dtype"),
    ],
)
def test_structure_shape_and_dtype_count_as_much_as_values(other: Result, what: str) -> None:
    comparison = compare(FINE, other)
    assert comparison.verdict == "differs"
    assert comparison.greatest is not None
    assert comparison.greatest.what == what


def test_another_shape_is_a_greater_difference_than_any_value() -> None:
    other = answer(values().reshape(6, 4), values() + np.float32(1e30))
    greatest = compare(FINE, other).greatest
    assert greatest is not None
    assert greatest.what == "shape"


# The oracle


@pytest.mark.parametrize(("times", "agrees"), [(0.9, True), (1.1, False)])
def test_the_oracle_has_the_tolerance_of_central_differences(times: float, agrees: bool) -> None:
    oracle = OracleResult("ok", (Estimate("dx", pack(np.zeros(3))),))
    shifted = answer(np.full(3, times * CENTRAL[1]), structure="dx")
    assert agrees_with_oracle(shifted, oracle) is agrees


def test_a_leaf_that_is_missing_or_of_another_shape_does_not_agree_with_the_oracle() -> None:
    right = values("float64")
    missing = OracleResult("ok", (Estimate("dz", pack(right)),))
    reshaped = OracleResult("ok", (Estimate("dx", pack(right.ravel())),))
    assert not agrees_with_oracle(answer(right, right), missing)
    assert not agrees_with_oracle(answer(right, right), reshaped)
