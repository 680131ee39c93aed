"""The comparison of results, with planted errors: it must see each of them, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.compare.graphs.sameness import CENTRAL, CLEAR, NEAR, UNMEASURED, scale
from explorer.compare.results.comparison import BesideOracle, Comparison, compare, movements, worst
from explorer.model.arrays import AnyArray, pack
from explorer.model.results import Estimate, LeafNoise, OracleResult, Result, ResultNoise
from explorer.model.trees import branch
from explorer.numeric.differences import directions
from explorer.numeric.summaries import UNIT
from tests.support.narrowing import present
from tests.support.results import FINE, answer, values

# Elements


@pytest.mark.parametrize(("dtype", "off"), [("float64", 1e-9), ("float32", 1e-3), ("float16", 0.1)])
def test_equal_results_match_and_one_leaf_a_little_off_differs(dtype: str, off: float) -> None:
    good, bad = values(dtype), (values("float64") * (1 + off)).astype(dtype)
    assert compare(answer(good, good), answer(good, good)).verdict == "match"
    comparison = compare(answer(good, good), answer(good, bad), ("a", "b"))
    assert comparison.verdict == "differs"
    greatest = present(comparison.greatest)
    assert (greatest.what, greatest.leaf, greatest.engines) == ("value", "dy", ("a", "b"))


def test_a_single_wrong_element_is_found_at_its_index() -> None:
    wrong = values()
    wrong[2, 5] += 0.5
    greatest = present(compare(FINE, answer(wrong, values())).greatest)
    assert greatest.index == (2, 5)
    assert greatest.abs == pytest.approx(0.5)
    assert greatest.rel == pytest.approx(0.5 / float(wrong[2, 5]))


def test_results_of_other_structures_are_told_with_both_structures() -> None:
    greatest = present(compare(FINE, answer(values(), structure="dx")).greatest)
    assert (greatest.what, greatest.detail) == ("structure", "(dx, dy) against dx")


# Noise


def test_movements_are_the_measured_ones_by_leaf_in_float64() -> None:
    moved = np.array([1e-7, 2e-7], np.float32)
    (found,) = movements(ResultNoise(leaves=(LeafNoise("dx", pack(moved)),))).items()
    assert found[0] == "dx"
    np.testing.assert_array_equal(found[1], moved.astype(np.float64), strict=True)
    assert movements(None) == {}


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1.0, 1e20])
@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        (0.9 * NEAR, "match"),
        (1.1 * NEAR, "close"),
        (0.9 * CLEAR, "close"),
        (1.1 * CLEAR, "differs"),
    ],
)
def test_the_verdict_turns_at_multiples_of_the_noise_of_both_sides_whatever_the_size(
    times: float, verdict: str, size: float
) -> None:
    one = values("float64") * size
    moved = np.full(one.shape, 3e-6 * size), np.full(one.shape, 4e-6 * size)
    other = one + times * 5e-6 * size
    comparison = compared(one, other, *moved)
    assert comparison.verdict == verdict
    assert comparison.greatest is not None
    assert comparison.greatest.ratio == pytest.approx(times, rel=1e-6)
    assert comparison.greatest.noise == pytest.approx(5e-6 * size)


def compared(
    one: AnyArray, other: AnyArray, moved: AnyArray | None, other_moved: AnyArray | None
) -> Comparison:
    """The comparison of two results of one leaf, given how far their elements move."""
    noise = tuple({} if moves is None else {"dx": moves} for moves in (moved, other_moved))
    left, right = answer(one, structure="dx"), answer(other, structure="dx")
    return compare(left, right, noise=(noise[0], noise[1]))


def test_the_greatest_difference_is_told_though_a_smaller_one_stands_clearer_of_its_noise() -> None:
    one = np.ones(12, np.float32)
    moves, off = np.full(12, 1e-6), np.zeros(12, np.float32)
    moves[1:3] = 1e-3, 1.0
    # A thousand times the noise, a hundred times, and rounding alone.
    off[:3] = 0.0015, 0.15, 2.0
    greatest = present(compared(one, one + off, moves, moves).greatest)
    assert greatest.index == (1,)
    assert greatest.abs == pytest.approx(0.15, rel=1e-4)
    assert greatest.ratio == pytest.approx(0.15 / (2**0.5 * 1e-3), rel=1e-4)


def test_the_greatest_difference_is_that_of_all_leaves_and_pairs() -> None:
    still = {"dx": np.zeros((4, 6)), "dy": np.full((4, 6), 1e-3)}
    other = answer(values() + np.float32(0.01), values() + np.float32(0.5))
    small = compare(FINE, other, ("a", "b"), (still, still))
    assert small.greatest is not None
    assert small.greatest.leaf == "dy"
    assert small.greatest.abs == pytest.approx(0.5)
    great = compare(FINE, answer(values(), values() + np.float32(0.7)), ("a", "c"), (still, still))
    for pairs in ((small, great), (great, small)):
        assert worst(pairs).greatest == great.greatest


def test_what_has_no_elements_is_no_greater_than_rounding() -> None:
    none = np.zeros((0, 3), np.float32)
    rounded = answer(none, values() * np.float32(1 + 1e-7))
    for pair in ((answer(none, values()), rounded), (rounded, answer(none, values()))):
        greatest = present(compare(*pair).greatest)
        assert greatest.leaf == "dy"
        empty = compare(answer(none, none), answer(none, none))
        assert worst([compare(*pair), empty]).greatest == greatest


@pytest.mark.parametrize(("dtype", "index"), [("float32", (0, 0)), ("complex64", (0, 0, 0))])
def test_the_first_element_of_equal_numbers_is_named(dtype: str, index: tuple[int, ...]) -> None:
    equal = answer(values().astype(dtype), structure="dx")
    greatest = present(compare(equal, equal).greatest)
    assert greatest.index == index


def test_what_a_scenario_allows_is_not_the_greatest_where_something_else_differs() -> None:
    allowed = compare(FINE, answer(values(), values() + np.float32(5)))._replace(verdict="close")
    differing = compare(FINE, answer(values(), values() + np.float32(1)))
    assert worst((allowed, differing)).greatest == differing.greatest


@pytest.mark.parametrize(
    ("dtype", "size"), [("float64", 1.0), ("float32", 1.0), ("float16", 1.0), ("float16", 2.0**-14)]
)
@pytest.mark.parametrize(("times", "verdict"), [(0.9 * CLEAR, "close"), (1.2 * CLEAR, "differs")])
def test_without_a_measurement_the_level_is_a_few_units_in_the_last_place(
    dtype: str, size: float, times: float, verdict: str
) -> None:
    one = np.full(5, size, dtype)
    apart = times * 2**0.5 * UNMEASURED * UNIT[dtype]
    shifted = (one.astype(np.float64) * (1 + apart)).astype(dtype)
    assert compared(one, shifted, None, None).verdict == verdict
    assert compared(shifted, one, None, None).verdict == verdict


def test_the_noise_half_of_a_packed_bias_is_not_the_scale_of_its_other_half() -> None:
    draws = np.random.default_rng(0)
    numbers = draws.standard_normal(8)
    one = np.concatenate([draws.standard_normal(16) * 1e-9, numbers]).astype(np.float32)
    other = np.concatenate([draws.standard_normal(16) * 1e-9, numbers]).astype(np.float32)
    other[16:] = np.nextafter(other[16:], np.float32(9))
    moved = np.full(24, 1e-9)
    assert compared(one, other, moved, moved).verdict == "match"
    wrong = other.copy()
    wrong[20] *= np.float32(1.0001)
    assert compared(one, wrong, moved, moved).verdict == "differs"


def test_what_is_noise_does_not_tell_the_scale_of_a_tensor() -> None:
    packed = np.array([1e-9] * 16 + [1.0] * 8)
    assert scale(packed, np.full(24, 1e-9)) == 1.0
    assert scale(np.array([-1e9, 0.5, 2.0, 1.0, -1e9])) == 2.0


def test_an_ill_conditioned_element_hides_no_difference_in_the_others() -> None:
    one = values()
    moved = np.full(one.shape, 1e-7)
    moved[0, 0] = 0.1
    shaken, wrong = one.copy(), one.copy()
    shaken[0, 0] += np.float32(0.2)
    wrong[3, 3] += np.float32(1e-4)
    assert compared(one, shaken, moved, moved).verdict == "match"
    assert compared(one, wrong, moved, moved).verdict == "differs"


@pytest.mark.parametrize(("share", "is_swamped"), [(1.0, True), (0.3, False), (0.01, False)])
def test_what_noise_of_the_size_of_the_values_excuses_is_no_match(
    share: float, is_swamped: bool
) -> None:
    one = values()
    moved = np.full(one.shape, share * float(np.abs(one).max()))
    other = one * np.float32(1 - share / 2)
    verdict = "differs" if is_swamped else "match"
    comparison = compared(one, other, moved, moved)
    assert (comparison.verdict, present(comparison.greatest).swamped) == (verdict, is_swamped)
    # Signs change nothing, and an infinity that both have is no size.
    assert compared(-np.abs(one), -np.abs(other), moved, moved).verdict == verdict
    infinite, noise = np.full(one.shape, np.inf, np.float32), {"dx": moved}
    beside = compare(answer(one, infinite), answer(other, infinite), noise=(noise, noise))
    assert beside.verdict == verdict
    # What is known to differ is told, and not what cannot be judged.
    worse = worst((comparison, compared(one, one + np.float32(1e-3), None, None)))
    assert present(worse.greatest).swamped is False


@pytest.mark.parametrize("beside", [values(), -np.abs(values())])
def test_a_gradient_that_is_nothing_but_noise_matches_beside_greater_ones(beside: AnyArray) -> None:
    lost = np.full(beside.shape, 1e-9, np.float32)
    noise = {"dx": np.zeros(beside.shape), "dy": np.full(beside.shape, 1e-9)}
    both = answer(beside, lost), answer(beside, -lost)
    assert compare(*both, noise=(noise, noise)).verdict == "match"


def test_an_example_that_is_lost_in_rounding_hides_no_difference_in_the_others() -> None:
    one = np.random.default_rng(0).standard_normal((2, 5, 8)).astype(np.float32)
    moved = np.full(one.shape, 1e-7)
    moved[0] = 1.0
    other = one.copy()
    other[1, 2, 3] += np.float32(0.5)
    assert compared(one, other, moved, moved).verdict == "differs"
    # One that moves a few times less than another has the noise of both.
    moved[0], moved[1] = 1e-4, 2e-5
    other[1, 2, 3] = one[1, 2, 3] + np.float32(5e-4)
    assert compared(one, other, moved, moved).verdict == "match"


def test_an_element_that_did_not_move_by_luck_has_the_noise_of_most() -> None:
    one = values()
    moved = np.full(one.shape, 1e-5)
    moved[1, 1] = 0.0
    other = one.copy()
    other[1, 1] += np.float32(5e-5)
    assert compared(one, other, moved, moved).verdict == "match"


def test_a_row_that_alone_moves_has_the_noise_of_most_of_its_own_elements() -> None:
    # As in the gradient of an embedding, whose other rows are not read.
    one = np.zeros((60, 16), np.float32)
    moved, other = np.zeros(one.shape), one.copy()
    moved[18], other[18] = 2e-6, 4e-6
    moved[18, 7] = 2e-7
    assert compared(one, other, moved, moved).verdict == "match"
    other[19, 3] = 4e-6
    assert compared(one, other, moved, moved).verdict == "differs"


def test_a_mask_does_not_blur_the_numbers_beside_it() -> None:
    one = np.array([[-1e9, 0.5, -1e9], [0.25, 1.5, 0.75]], np.float32)
    other = one.copy()
    other[1, 1] += np.float32(1e-3)
    assert compared(one, other, None, None).verdict == "differs"


def test_where_one_side_was_not_measured_the_noise_of_the_other_stands_for_both() -> None:
    one = values()
    moved = np.full(one.shape, 1e-4)
    assert compared(one, one + np.float32(5e-4), moved, None).verdict == "match"
    assert compared(one, one + np.float32(5e-4), None, None).verdict == "differs"


@settings(max_examples=40)
@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(0, 1), st.floats(0, 1))
def test_the_verdict_does_not_depend_on_which_result_is_named_first(
    one: float, other: float, moved: float, other_moved: float
) -> None:
    left, right = np.array([one]), np.array([other])
    moves, other_moves = np.array([moved]), np.array([other_moved])
    there = compared(left, right, moves, other_moves)
    back = compared(right, left, other_moves, moves)
    assert there.verdict == back.verdict


@pytest.mark.parametrize("moved", [None, np.inf, 1e30])
@pytest.mark.parametrize(
    ("one", "other"), [(np.nan, 0), (np.inf, 3e38), (np.inf, np.nan), (-np.inf, np.inf)]
)
def test_noise_excuses_no_number_that_one_side_alone_has(
    one: float, other: float, moved: float | None
) -> None:
    left, right = values(), values()
    left[1, 2], right[1, 2] = one, other
    movement = None
    if moved is not None:
        movement = np.zeros(left.shape)
        movement[1, 2] = moved
    for pair in ((left, right), (right, left)):
        comparison = compared(*pair, movement, movement)
        assert comparison.verdict == "differs"
        assert not comparison.in_torch_table
        assert comparison.greatest is not None
        assert comparison.greatest.index == (1, 2)
        assert comparison.greatest.abs == np.inf
    assert compared(left, left, movement, movement).verdict == "match"


def test_empty_tensors_match() -> None:
    empty = np.zeros((0, 9), np.float32)
    comparison = compared(empty, empty, empty, empty)
    assert (comparison.verdict, comparison.greatest) == ("match", None)


# All but the elements


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (answer(values(), values(), structure=branch("dx", branch("dy"))), "structure"),
        (answer(values(), values().reshape(6, 4)), "shape"),
        (answer(values(), values()[:2]), "shape"),
        (answer(values(), values("float64")), "dtype"),
    ],
)
def test_structure_shape_and_dtype_count_as_much_as_values(other: Result, what: str) -> None:
    comparison = compare(FINE, other)
    assert comparison.verdict == "differs"
    assert (comparison.in_torch_table, comparison.in_mindspore_table) == (False, False)
    assert present(comparison.greatest).what == what


def test_another_shape_is_a_greater_difference_than_any_value() -> None:
    other = answer(values().reshape(6, 4), values() + np.float32(1e30))
    greatest = present(compare(FINE, other).greatest)
    assert greatest.what == "shape"


# The oracle


def estimated(
    *numbers: float, noise: float = 0.0, directions: int = 0, kinks: AnyArray | None = None
) -> OracleResult:
    """An estimate of "dx"."""
    packed = None if kinks is None else pack(kinks)
    estimate = Estimate("dx", pack(np.array(numbers)), directions, noise, kinks=packed)
    return OracleResult("ok", (estimate,))


def agrees(gradient: AnyArray | list[float], oracle: OracleResult) -> bool | None:
    """Whether the oracle agrees with a gradient "dx"."""
    return BesideOracle(answer(np.asarray(gradient), structure="dx"), oracle).agrees


@pytest.mark.parametrize(("times", "is_near"), [(0.9, True), (1.1, False)])
@pytest.mark.parametrize("size", [1.0, 1e-9])
def test_the_oracle_has_the_tolerance_of_central_differences(
    times: float, is_near: bool, size: float
) -> None:
    shifted = [size * (1 + times * sum(CENTRAL))] * 3
    assert agrees(shifted, estimated(size, size, size)) is is_near


@pytest.mark.parametrize(("times", "is_near"), [(0.9, True), (1.1, False)])
def test_the_oracle_allows_the_rounding_of_its_own_outputs(times: float, is_near: bool) -> None:
    assert agrees([times * 1.1e-4, 1.0], estimated(0.0, 1.0, noise=1e-4)) is is_near


@pytest.mark.parametrize(("gradient", "expected"), [(900.0, None), (1100.0, True), (1e-9, True)])
def test_an_estimate_whose_rounding_hides_the_gradient_proves_nothing(
    gradient: float, expected: bool | None
) -> None:
    # Of a gradient that is rounding itself, 0 is as good an estimate as any.
    given = answer(np.array([gradient]), structure="dx")
    moved = {"dx": np.array([1e-9 if gradient < 1 else 1e-6])}
    assert BesideOracle(given, estimated(gradient, noise=1e3), moved).agrees is expected


SWAMPING = 16 * 0.1
"""The greatest gradient that the noise of 0.1 may hide whole."""


@pytest.mark.parametrize(
    ("gradient", "others", "expected"),
    [
        ((0.9 * SWAMPING, 0.1), None, None),
        ((1.1 * SWAMPING, 0.1), None, True),
        ((0.9 * SWAMPING, 0.1), 1.0, True),
        ((0.9 * SWAMPING, 0.1), 1000.0, True),
    ],
)
def test_what_noise_of_the_size_of_the_gradient_excuses_is_not_confirmed(
    gradient: tuple[float, float], others: float | None, expected: bool | None
) -> None:
    arrays = {"dx": np.array(gradient)} | ({} if others is None else {"dy": np.array([others])})
    given = answer(*arrays.values(), structure=branch("dx", "dy") if others else "dx")
    oracle = OracleResult("ok", tuple(Estimate(name, pack(it)) for name, it in arrays.items()))
    moved = {"dx": np.full(2, 0.1)}
    assert BesideOracle(given, oracle, moved).agrees is expected
    hidden = BesideOracle(given, oracle, moved).noise_alone
    is_small = others == 1000.0
    is_hidden = gradient[0] < SWAMPING and not is_small
    assert {name: it.tolist() for name, it in hidden.items()} == (
        {"dx": [True, True]} if is_hidden else {}
    )


@pytest.mark.parametrize(
    ("gradient", "is_between"),
    [([1.0, 2.0], True), ([0.0, 2.0], True), ([1.1, 2.0], False), ([0.5, 2.1], False)],
)
def test_at_a_kink_all_between_the_slopes_to_either_side_agrees(
    gradient: list[float], is_between: bool
) -> None:
    assert agrees(gradient, estimated(0.5, 2.0, kinks=np.array([0.5, 0.0]))) is is_between


def test_what_has_no_derivative_at_all_proves_nothing() -> None:
    oracle = estimated(0.5, 0.5, kinks=np.array([0.5, 0.5]))
    assert agrees([0.0, 1.0], oracle) is None
    assert agrees([0.0, 2.0], oracle) is False


@pytest.mark.parametrize(
    ("gradient", "estimate", "expected"),
    [
        ([1.0, 2.0], [np.nan, 2.0], True),  # nothing to compare the first one with
        ([1.0, 3.0], [np.nan, 2.0], False),
        ([np.nan, np.inf], [np.nan, np.nan], None),
        ([1.0, 2.0], [np.inf, -np.inf], None),
        ([np.nan, 2.0], [1.0, 2.0], False),
        ([np.inf, 2.0], [1.0, 2.0], False),
        # No float32 is as great as that, but of one sign.
        ([np.inf, 2.0], [4e38, 2.0], True),
        ([-np.inf, 2.0], [-4e38, 2.0], True),
        ([-np.inf, 2.0], [4e38, 2.0], False),
        ([np.inf, 2.0], [3.3e38, 2.0], False),
        ([np.inf, 2.0], [3.401e38, 2.0], True),  # 3.4028e38, less the error of the estimate
        ([np.nan, 2.0], [4e38, 2.0], False),
    ],
)
def test_an_oracle_that_is_not_finite_judges_nothing_and_a_number_is_no_infinity(
    gradient: list[float], estimate: list[float], expected: bool | None
) -> None:
    assert agrees(np.array(gradient, np.float32), estimated(*estimate)) is expected


OVERFLOW = np.array([np.inf, 2.0], np.float32)


def test_an_estimate_lost_in_the_rounding_of_its_outputs_contradicts_no_overflow() -> None:
    assert agrees(OVERFLOW, estimated(0.0, 2.0, noise=1e68)) is None
    assert not agrees(OVERFLOW, estimated(0.0, 2.0, noise=1e38))


def test_along_directions_no_gradient_that_is_not_finite_agrees() -> None:
    assert agrees(OVERFLOW, estimated(1.0, 2.0, 3.0, directions=3)) is False
    assert agrees(OVERFLOW, estimated(np.nan, np.nan, np.nan, directions=3)) is None


def test_the_oracle_allows_an_engine_the_noise_of_half_precision() -> None:
    gradient = values("float64")
    rounded = answer(gradient * 1.004, structure="dx")
    oracle = OracleResult("ok", (Estimate("dx", pack(gradient)),))
    assert not BesideOracle(rounded, oracle).agrees
    assert BesideOracle(rounded, oracle, {"dx": np.full(gradient.shape, 1e-3)}).agrees


@pytest.mark.parametrize(("off", "is_near"), [(0.9, True), (1.1, False)])
def test_noise_along_a_direction_adds_up_as_squares_do(off: float, is_near: bool) -> None:
    """Along a unit vector, elements that move by 0.01 each move their sum by 0.01 too."""
    gradient = np.ones((40, 30))
    along = directions("dx", 16, gradient.shape).reshape(16, -1) @ gradient.ravel()
    along[5] += off * CLEAR * 0.01
    moved = {"dx": np.full(gradient.shape, 0.01)}
    given = answer(gradient, structure="dx")
    assert BesideOracle(given, estimated(*along, directions=16), moved).agrees is is_near


def test_a_leaf_that_is_missing_or_of_another_shape_does_not_agree_with_the_oracle() -> None:
    right = values("float64")
    missing = OracleResult("ok", (Estimate("dz", pack(right)),))
    reshaped = OracleResult("ok", (Estimate("dx", pack(right.ravel())),))
    assert not BesideOracle(answer(right, right), missing).agrees
    assert not BesideOracle(answer(right, right), reshaped).agrees
