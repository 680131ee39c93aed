"""Which values are the same numbers, up to layout and rounding."""

from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from explorer.compare.align import align
from explorer.compare.align.sameness import allowances, fingerprint, scales
from explorer.compare.align.vertices import OutputValue, view
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph, with_outputs, with_whole
from tests.support.computed_graphs import one_input
from tests.support.handmade_graph import HandmadeGraph

Matrices = hnp.arrays(np.float64, (3, 4), elements=st.floats(-1e3, 1e3, width=32))


def fingerprinted(*arrays: AnyArray, noise: tuple[float, ...] = ()) -> list[OutputValue]:
    """Values of one graph that hold some arrays, each with its noise where that is given."""
    graph = HandmadeGraph()
    for array, level in zip_longest(arrays, noise):
        graph.add("Exp", value=array, dtype=array.dtype.name, noise=level)
    left, right = view(graph.record(), HandmadeGraph().record())
    fingerprint(left, right)
    return [node.value for node in left.nodes]


@pytest.mark.slow
@settings(max_examples=25)
@given(Matrices, st.integers(0, 2**32 - 1))
def test_numbers_in_another_order_fall_into_the_same_bucket(array: AnyArray, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(array.ravel()).reshape(4, 3)
    value, other = fingerprinted(array, shuffled)
    assert value.bucket is other.bucket
    assert value.agrees(other)
    assert value.distance(other) == 0


def test_a_float64_tensor_is_not_compared_as_the_float32_one_that_holds_the_same_numbers() -> None:
    exact = np.linspace(1, 3, 12)
    rounded = exact.astype(np.float32)
    arrays = rounded, rounded.astype(np.float64), exact
    single, double, other = fingerprinted(*arrays, noise=(0.0, 0.0, 0.0))
    assert single.agrees(double)
    assert single.agrees(other)
    assert not double.agrees(other)


def test_zeros_of_either_sign_are_one_number() -> None:
    value, other = fingerprinted(np.array([-0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]))
    assert value.bucket is other.bucket


@pytest.mark.slow
@settings(max_examples=25)
@given(Matrices, Matrices)
def test_agreement_is_mutual(array: AnyArray, other_array: AnyArray) -> None:
    value, other = fingerprinted(array, other_array)
    assert value.agrees(other) == other.agrees(value)
    if value.agrees(other):
        assert value.distance(other) == other.distance(value)


@pytest.mark.parametrize(("shift", "agrees"), [(0.9e-6, True), (1.5e-6, False)])
def test_zeros_agree_up_to_the_absolute_tolerance_at_the_scale_of_the_tensor(
    shift: float, agrees: bool
) -> None:
    array = np.array([0.0, 0.0, 0.5, 1.0])
    value, other = fingerprinted(array, array + np.array([shift, 0, 0, 0]))
    assert value.agrees(other) is agrees


def test_values_of_other_sizes_or_unobserved_ones_do_not_agree() -> None:
    three, four = fingerprinted(np.ones(3), np.ones(4))
    assert three.agrees(four) is False
    (empty,) = fingerprinted(np.ones((0, 2)))
    assert empty.bucket is None
    assert three.agrees(empty) is None


def test_one_wrong_element_of_many_is_not_overlooked() -> None:
    array = np.random.default_rng(0).standard_normal(1000)
    wrong = array.copy()
    wrong[np.argsort(array)[31]] += 1e-2  # no order statistic that a summary keeps
    value, other = fingerprinted(array, wrong)
    assert value.agrees(other) is False


@pytest.mark.parametrize(
    ("array", "is_plain", "is_distinctive"),
    [
        (np.zeros(3), True, False),
        (np.full(3, 0.25), True, False),
        (np.array(1.0), True, False),
        (np.array(-1.0), True, False),
        (np.array(0.25), True, True),
        (np.array([0.25, 0.5]), False, True),
    ],
)
def test_one_number_over_and_over_says_little(
    array: AnyArray, is_plain: bool, is_distinctive: bool
) -> None:
    (value,) = fingerprinted(array)
    assert value.bucket is not None
    assert (value.bucket.is_plain, value.bucket.is_distinctive) == (is_plain, is_distinctive)


# Seen through whole alignments


def test_a_mask_of_minus_a_billion_hides_no_difference() -> None:
    mask = np.where(np.eye(4) > 0, -1e9, 0)

    def masked(engine: str, factor: float) -> GradGraph:
        return one_input(engine, lambda g, x: g.op("Add", lambda x: x * factor + mask, x))

    assert align(masked("a", 1.0), masked("b", 1.0)).divergence is None
    assert align(masked("a", 1.0), masked("b", 1.01)).divergence is not None


def test_the_noise_half_of_a_tensor_does_not_tell_its_scale() -> None:
    rows = np.array([[1e-9] * 9 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]] * 4)
    # A mask is 10,000 times the typical number, which the noise is not.
    measured = scales(rows, np.array([1e-9, np.nan, 1e3, np.inf]))
    assert measured[0] == 8.0
    assert measured[1] == 1e-9  # unmeasured: small numbers like any others, and 1 is a mask
    assert measured[2] == measured[3] == 1e-9  # nothing but noise: as if it were not measured


@pytest.mark.parametrize(
    ("noise", "rtol", "floor"),
    [
        # 16 times the noise of both sides, √(3² + 4²); and 16 times √2 roundings of 2 ** -10.
        ((3.0, 4.0), 0.0220971, 80 + 8 * 0.0220971),
        # Of a side without a measured noise the tolerance is the noise; the other side's is known.
        ((np.nan, 4.0), 1e-4, 8 * 1e-6 + 64),
        ((3.0, np.nan), 1e-4, 8 * 1e-6 + 48),
        ((np.nan, np.nan), 1e-4, 8 * 1e-6),
    ],
)
def test_elements_may_lie_apart_by_the_noise_of_both_sides(
    noise: tuple[float, float], rtol: float, floor: float
) -> None:
    sides = np.array([noise[0]]), np.array([noise[1]])
    unit, scale = np.array([2.0**-10]), np.array([8.0])
    allowed = allowances(sides, unit, np.zeros(1), scale)
    assert [it.item() for it in allowed] == pytest.approx([rtol, floor], rel=1e-5)


def test_a_value_whose_elements_are_not_all_known_agrees_by_its_figures() -> None:
    array = np.linspace(1, 3, 60)

    def of_figures(array: AnyArray, whole: bool) -> GradGraph:
        graph = one_input("a", lambda graph, x: graph.op("Exp", np.exp, x), array)
        return graph if whole else with_outputs(graph, lambda _, it: with_whole(it, None))

    for whole in (True, False):
        equal = align(of_figures(array, whole), of_figures(array, not whole))
        assert equal.divergence is None
        assert len(equal.pairs) == 3
    assert align(of_figures(array, True), of_figures(array * 1.01, False)).divergence is not None


@pytest.mark.parametrize("size", [3, 3000])
@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        (np.nan, np.nan, False),
        (np.inf, np.inf, False),
        (np.nan, np.inf, True),
        (np.inf, -np.inf, True),
        (np.nan, 2.0, True),
    ],
)
def test_a_number_that_is_not_finite_equals_the_same_alone_also_in_large_tensors(
    one: float, other: float, differs: bool, size: int
) -> None:
    graphs = []
    for number in (one, other):
        graph = HandmadeGraph()
        x = graph.add("input", kind="input", name="x", value=1.0)
        numbers = np.arange(size, dtype=np.float64)
        numbers[1] = number
        y = graph.add("mul", [x], value=numbers)
        graph.add("output", [y], kind="output", name="out", value=numbers)
        graphs.append(graph.record())
    left, right = graphs
    alignment = align(left, right)
    assert alignment.differing == (("out",) if differs else ())
    assert (alignment.divergence is not None) is differs


def test_the_noise_of_a_mask_that_rounding_turns_says_nothing_of_other_values() -> None:
    mask, turned = np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0])
    other = np.array([0.1, 1.2, 0.9, 0.3])
    value, same, unlike = fingerprinted(mask, turned, other, noise=(0.3, 0.3, 1e-7))
    assert value.agrees(same)
    assert not value.agrees(unlike)
    noisy, near = fingerprinted(mask + 0.2, other, noise=(0.3, 1e-7))
    assert noisy.agrees(near)
