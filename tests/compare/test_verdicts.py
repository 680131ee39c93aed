"""The comparison, tested with planted errors: it must see each of them, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.compare.verdicts import (
    CENTRAL,
    CLOSE,
    MATCH,
    agrees_with_oracle,
    compare,
    judge,
    within,
)
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.report import ORACLE, CaseReport
from explorer.model.results import Estimate, Failure, Leaf, OracleResult, Outcome, Result
from explorer.model.trees import Tree, branch, names_in
from explorer.numeric.directions import directions
from explorer.scenario.contract import ExpectedDifference

CASE = GradCase("grad", 0)
NO_ORACLE = OracleResult("not_defined")
TWO = branch("dx", "dy")

TAPE = ExpectedDifference(("tape",), "a tape sums over both uses")


def answer(*arrays: AnyArray, structure: Tree = TWO, dtype: str | None = None) -> Result:
    names = names_in(structure)
    leaves = [Leaf(name, pack(array, dtype)) for name, array in zip(names, arrays, strict=True)]
    return Result(outcome="ok", structure=structure, leaves=tuple(leaves))


def raised(kind: str = "ValueError") -> Result:
    return Result(outcome="raised", error=Failure(kind, "no"))


def values(dtype: str = "float32") -> AnyArray:
    return np.linspace(-3, 3, 24).reshape(4, 6).astype(dtype)


FINE = answer(values(), values())


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


# Cases


def judged(
    results: dict[str, Result], *expected: ExpectedDifference, oracle: OracleResult = NO_ORACLE
) -> CaseReport:
    return judge(CASE, results, oracle, expected)


def test_failing_everywhere_is_agreement_and_failing_somewhere_is_not() -> None:
    everywhere = judged({"mindspore-graph": raised(), "torch-tape": raised("TypeError")})
    assert (everywhere.verdict, everywhere.expected) == ("all_raise", True)
    somewhere = judged({"mindspore-graph": FINE, "torch-tape": raised("TypeError")})
    assert (somewhere.verdict, somewhere.expected) == ("some_raise", False)
    assert somewhere.greatest is not None
    assert somewhere.greatest.engines == ("mindspore-graph", "torch-tape")
    assert "TypeError" in somewhere.greatest.detail


def test_engines_that_cannot_answer_are_left_out() -> None:
    alone = judged({"torch-tape": FINE, "torch-graph": Result(outcome="unsupported")})
    assert (alone.verdict, alone.expected) == ("not_compared", True)


@pytest.mark.parametrize(("outcome", "words"), [("crashed", "crashed"), ("timed_out", "timed out")])
def test_a_lost_worker_is_never_expected(outcome: Outcome, words: str) -> None:
    report = judged({"torch-tape": FINE, "torch-graph": Result(outcome=outcome)})
    assert not report.expected
    assert report.reason == f"torch-graph {words}"


def parted() -> dict[str, Result]:
    """Tapes that agree, and graphs that agree on something else."""
    doubled = answer(values() * 2, values())
    return {
        "mindspore-graph": FINE,
        "mindspore-tape": doubled,
        "torch-tape": doubled,
        "torch-graph": FINE,
    }


def test_an_expected_difference_between_styles_is_reported_with_its_reason() -> None:
    report = judged(parted(), TAPE)
    assert (report.verdict, report.expected, report.reason) == ("differs", True, TAPE.reason)
    assert not judged(parted()).expected


def test_an_expected_difference_excuses_no_other() -> None:
    report = judged(parted() | {"torch-tape": answer(values() * 3, values())}, TAPE)
    assert not report.expected
    assert "mindspore-tape and torch-tape disagree" in report.reason


def test_an_expected_difference_that_is_not_there_is_unexpected() -> None:
    report = judged({"mindspore-graph": FINE, "torch-tape": FINE}, TAPE)
    assert not report.expected
    assert "should differ" in report.reason


def test_an_expected_difference_is_not_asked_of_a_case_that_fails_everywhere() -> None:
    assert judged({"mindspore-graph": raised(), "torch-tape": raised()}, TAPE).expected


def test_an_expected_refusal_is_a_difference_too() -> None:
    report = judged({"mindspore-graph": FINE, "torch-tape": raised()}, TAPE)
    assert (report.verdict, report.expected, report.reason) == ("some_raise", True, TAPE.reason)


def test_when_narrows_an_expectation_to_cases() -> None:
    narrow = ExpectedDifference(("tape",), "only there", {"position": 1, "has_aux": False})
    assert narrow.applies(GradCase("grad", (0, 1)))
    assert not narrow.applies(GradCase("grad", 0))
    assert not narrow.applies(GradCase("grad", 1, has_aux=True))


# The oracle


def test_the_oracle_catches_a_wrong_answer_that_all_engines_share() -> None:
    right = values("float64")
    oracle = OracleResult("ok", (Estimate("dx", pack(right)), Estimate("dy", pack(right))))
    good, wrong = answer(right, right), answer(right * 1.01, right)
    report = judged({"torch-tape": good, "torch-graph": good}, oracle=oracle)
    assert (report.expected, report.oracle_agrees) == (True, True)
    report = judged({"torch-tape": wrong, "torch-graph": wrong}, oracle=oracle)
    assert (report.verdict, report.expected, report.oracle_agrees) == ("match", False, False)


def test_an_oracle_that_is_expected_to_disagree_is_seen_to() -> None:
    right = values("float64")
    oracle = OracleResult("ok", (Estimate("dx", pack(right)), Estimate("dy", pack(right))))
    expected = ExpectedDifference((ORACLE,), "the gradient is custom")
    good, custom = answer(right, right), answer(right * 2, right)
    assert judged({"torch-tape": custom, "torch-graph": custom}, expected, oracle=oracle).expected
    assert not judged({"torch-tape": good, "torch-graph": good}, expected, oracle=oracle).expected


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


def test_the_oracles_directions_catch_one_wrong_element_in_a_large_leaf() -> None:
    right = np.random.default_rng(1).standard_normal((40, 30))
    rows = directions("dx", 16, right.shape)
    estimate = Estimate("dx", pack(rows.reshape(16, -1) @ right.ravel()), 16)
    wrong = right.copy()
    wrong[7, 7] += 1.0
    oracle = OracleResult("ok", (estimate,))
    for array, agrees in ((right, True), (wrong, False)):
        report = judged({"torch-tape": answer(array, structure="dx")}, oracle=oracle)
        assert report.oracle_agrees is agrees
