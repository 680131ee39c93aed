"""The comparison, tested with planted errors: it must see each of them, and nothing else."""

import numpy as np
import pytest

from explorer.compare.verdicts import compare, judge
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.results import Estimate, Failure, Leaf, OracleResult, Result
from explorer.numeric.directions import directions
from explorer.scenario.contract import ExpectedDifference

CASE = GradCase("grad", 0)
NO_ORACLE = OracleResult("not_defined")


def answer(*arrays: AnyArray, structure: str = "(dx, dy)") -> Result:
    names = structure.strip("()").replace(",", " ").split()
    return Result(
        outcome="ok",
        structure=structure,
        leaves=tuple(Leaf(n, pack(a)) for n, a in zip(names, arrays, strict=True)),
    )


def raised(kind: str = "ValueError") -> Result:
    return Result(outcome="raised", error=Failure(kind, "no"))


def values(dtype: str = "float32") -> AnyArray:
    return np.linspace(-3, 3, 24).reshape(4, 6).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_equal_results_match_and_one_leaf_off_by_a_thousandth_differs(dtype: str) -> None:
    good, bad = values(dtype), values("float64") * 1.004
    assert compare(answer(good, good), answer(good, good)).verdict == "match"
    found = compare(answer(good, good), answer(good, bad.astype(dtype)), ("a", "b"))
    assert found.verdict == "differs"
    assert found.greatest is not None
    assert (found.greatest.what, found.greatest.leaf, found.greatest.engines) == (
        "value",
        "dy",
        ("a", "b"),
    )


def test_one_leaf_times_1_001_differs_in_float32() -> None:
    assert (
        compare(answer(values(), values()), answer(values(), values() * np.float32(1.001))).verdict
        == "differs"
    )


def test_a_single_wrong_element_is_found_at_its_index() -> None:
    wrong = values()
    wrong[2, 5] += 0.5
    greatest = compare(answer(values(), values()), answer(wrong, values())).greatest
    assert greatest is not None
    assert greatest.index == (2, 5)
    assert greatest.abs == pytest.approx(0.5)


@pytest.mark.parametrize(("dtype", "factor", "verdict"), [
    ("float64", 1 + 1e-8, "match"), ("float64", 1 + 4e-6, "close"), ("float64", 1 + 1e-4, "differs"),
    ("float32", 1 + 1e-6, "match"), ("float32", 1 + 6e-5, "close"), ("float32", 1 + 1e-3, "differs"),
])  # fmt: skip
def test_the_verdict_follows_the_table_of_the_dtype(
    dtype: str, factor: float, verdict: str
) -> None:
    array = values(dtype) * 10
    assert (
        compare(answer(array, array), answer(array, (array * factor).astype(dtype))).verdict
        == verdict
    )


def test_integers_are_compared_exactly() -> None:
    one = np.arange(4)
    assert compare(answer(one, one), answer(one, one + np.array([0, 0, 0, 1]))).verdict == "differs"


@pytest.mark.parametrize(("other", "what"), [
    (answer(values(), values(), structure="(dx, (dy,))"), "structure"),
    (answer(values(), values().reshape(6, 4)), "shape"),
    (answer(values(), values("float64")), "dtype"),
])  # fmt: skip
def test_structure_shape_and_dtype_count_as_much_as_values(other: Result, what: str) -> None:
    found = compare(answer(values(), values()), other)
    assert found.verdict == "differs"
    assert found.greatest is not None
    assert found.greatest.what == what


def test_nan_equals_nan_only_where_both_have_it() -> None:
    holes = values()
    holes[0, 0] = np.nan
    assert compare(answer(holes, holes), answer(holes, holes)).verdict == "match"
    assert compare(answer(values(), values()), answer(holes, values())).verdict == "differs"


def test_infinities_of_opposite_sign_differ() -> None:
    up, down = values(), values()
    up[0, 0], down[0, 0] = np.inf, -np.inf
    assert compare(answer(up, up), answer(down, up)).verdict == "differs"
    assert compare(answer(up, up), answer(up, up)).verdict == "match"


def test_empty_tensors_match() -> None:
    none = np.zeros((0, 3), np.float32)
    assert compare(answer(none, none), answer(none, none)).verdict == "match"


def test_failing_everywhere_is_agreement_and_failing_somewhere_is_not() -> None:
    fine = answer(values(), values())
    everywhere = judge(
        CASE, {"mindspore-graph": raised(), "torch-tape": raised("TypeError")}, NO_ORACLE
    )
    assert (everywhere.verdict, everywhere.expected) == ("all_raise", True)
    somewhere = judge(CASE, {"mindspore-graph": fine, "torch-tape": raised()}, NO_ORACLE)
    assert (somewhere.verdict, somewhere.expected) == ("some_raise", False)


def test_engines_that_cannot_answer_are_left_out() -> None:
    fine = answer(values(), values())
    alone = judge(
        CASE, {"torch-tape": fine, "torch-graph": Result(outcome="unsupported")}, NO_ORACLE
    )
    assert (alone.verdict, alone.expected) == ("not_compared", True)


def test_a_crash_is_never_expected() -> None:
    report = judge(
        CASE,
        {"torch-tape": answer(values(), values()), "torch-graph": Result(outcome="crashed")},
        NO_ORACLE,
    )
    assert not report.expected
    assert report.reason == "torch-graph crashed"


def parted() -> dict[str, Result]:
    one, two = answer(values(), values()), answer(values() * 2, values())
    return {"mindspore-graph": one, "mindspore-tape": two, "torch-tape": two, "torch-graph": one}


TAPE = ExpectedDifference(("tape",), "a tape sums over both uses")


def test_an_expected_difference_between_styles_is_reported_with_its_reason() -> None:
    report = judge(CASE, parted(), NO_ORACLE, (TAPE,))
    assert (report.verdict, report.expected, report.reason) == (
        "differs",
        True,
        "a tape sums over both uses",
    )
    assert not judge(CASE, parted(), NO_ORACLE).expected


def test_an_expected_difference_excuses_no_other() -> None:
    results = parted()
    results["torch-tape"] = answer(values() * 3, values())
    report = judge(CASE, results, NO_ORACLE, (TAPE,))
    assert not report.expected
    assert "mindspore-tape and torch-tape disagree" in report.reason


def test_an_expected_difference_that_is_not_there_is_unexpected() -> None:
    same = answer(values(), values())
    report = judge(CASE, {"mindspore-graph": same, "torch-tape": same}, NO_ORACLE, (TAPE,))
    assert not report.expected
    assert "should differ" in report.reason


def test_an_expected_difference_is_not_asked_of_a_case_that_fails_everywhere() -> None:
    assert judge(
        CASE, {"mindspore-graph": raised(), "torch-tape": raised()}, NO_ORACLE, (TAPE,)
    ).expected


def test_when_narrows_an_expectation_to_cases() -> None:
    narrow = ExpectedDifference(("tape",), "only there", {"position": 1, "has_aux": False})
    assert narrow.applies(GradCase("grad", (0, 1)))
    assert not narrow.applies(GradCase("grad", 0))
    assert not narrow.applies(GradCase("grad", 1, has_aux=True))


def test_the_oracle_catches_a_wrong_answer_that_all_engines_share() -> None:
    right = values("float64")
    oracle = OracleResult("ok", (Estimate("dx", pack(right)), Estimate("dy", pack(right))))
    wrong = answer(right * 1.01, right)
    good = judge(
        CASE, {"torch-tape": answer(right, right), "torch-graph": answer(right, right)}, oracle
    )
    assert (good.expected, good.oracle_agrees) == (True, True)
    report = judge(CASE, {"torch-tape": wrong, "torch-graph": wrong}, oracle)
    assert (report.verdict, report.expected, report.oracle_agrees) == ("match", False, False)


def test_the_oracle_s_directions_catch_one_wrong_element_in_a_large_leaf() -> None:
    right = np.random.default_rng(1).standard_normal((40, 30))
    rows = directions("dx", 16, right.shape)
    estimate = Estimate("dx", pack(rows.reshape(16, -1) @ right.ravel()), 16)
    wrong = right.copy()
    wrong[7, 7] += 1.0
    for array, agrees in ((right, True), (wrong, False)):
        report = judge(
            CASE, {"torch-tape": answer(array, structure="dx")}, OracleResult("ok", (estimate,))
        )
        assert report.oracle_agrees is agrees
