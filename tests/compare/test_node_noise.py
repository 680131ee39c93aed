"""Nodes whose noise is known: what agrees, what stands clear, and whose level a value may borrow."""

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.compare.graphs.levels import lent_levels, with_levels
from explorer.compare.graphs.sameness import CLEAR
from explorer.compare.results.comparison import compare
from explorer.model.arrays import AnyArray
from explorer.model.divergence import Divergence
from explorer.model.graph import Edge, GradGraph
from tests.support.alignments import said
from tests.support.handmade_graph import HandmadeGraph
from tests.support.results import answer

DRAWN = np.random.default_rng(0).standard_normal(12).astype(np.float32)


def net(engine: str, *values: tuple[str, AnyArray, float | None]) -> GradGraph:
    """A chain of ops, each with its value and noise, of which the last one is the gradient."""
    made = HandmadeGraph()
    last = made.add("input", kind="input", name="x", value=DRAWN, noise=0.0)
    for op, value, noise in values:
        dtype = value.dtype.name
        last = made.add(op, [last], phase="backward", value=value, dtype=dtype, noise=noise, line=0)
    made.add(
        "output",
        [last],
        kind="output",
        phase="backward",
        name="dx",
        value=value,
        dtype=dtype,
        noise=noise,
    )
    return made.record(engine=engine)


def parts(value: AnyArray, other: AnyArray, noise: float | None, other_noise: float | None) -> bool:
    """Whether two gradients with these levels are told apart."""
    return parting(value, other, noise, other_noise) is not None


def parting(
    value: AnyArray, other: AnyArray, noise: float | None, other_noise: float | None
) -> Divergence | None:
    """The divergence between two nets whose gradients are these."""
    alignment = align(net("a", ("Mul", value, noise)), net("b", ("Mul", other, other_noise)))
    assert (alignment.divergence is None) == (alignment.differing == ())
    return alignment.divergence


@pytest.mark.parametrize("size", [1e-12, 1e-5, 1.0, 1e6])
@pytest.mark.parametrize(("times", "differ"), [(0.8, False), (1.3, True)])
def test_a_gradient_parts_where_it_stands_clear_of_the_noise_of_both_sides(
    size: float, times: float, differ: bool
) -> None:
    one = DRAWN * np.float32(size)
    other = one.copy()
    other[3] += np.float32(times * CLEAR * 5e-5 * size)
    assert parts(one, other, 3e-5 * size, 4e-5 * size) is differ
    assert parts(other, one, 4e-5 * size, 3e-5 * size) is differ


@pytest.mark.parametrize("size", [1e-12, 3.0, 1e6])
def test_a_divergence_tells_the_noise_of_both_sides_and_its_multiple(size: float) -> None:
    one = DRAWN * np.float32(size)
    other = one.copy()
    other[3] += np.float32(240 * 5e-5 * size)
    divergence = parting(one, other, 3e-5 * size, 4e-5 * size)
    assert divergence is not None
    assert divergence.gap.noise == pytest.approx(5e-5 * size, rel=0.02)
    assert divergence.gap.ratio == pytest.approx(240, rel=0.02)
    assert "40 × the noise of" in said(divergence)


def test_a_result_and_its_node_lie_apart_by_the_same_multiple_of_the_noise() -> None:
    one = np.array([1, 2, 3, 4, 5, 6, 7], np.float32)
    other = 2 * one
    divergence = parting(one, other, 0.0, 0.0)
    still = {"dx": np.zeros(one.shape)}
    results = answer(one, structure="dx"), answer(other, structure="dx")
    difference = compare(*results, noise=(still, still)).greatest
    assert divergence is not None
    assert difference is not None
    assert divergence.gap.greatest == difference.abs == 7
    assert divergence.gap.ratio == pytest.approx(difference.ratio)
    assert divergence.gap.noise == pytest.approx(difference.noise)


# Rounding of a mask of -1e9 is 64, one unit in the last place: 3,008 stands clear of it, if less than 2 of
# that of 1.
@pytest.mark.parametrize(("masks", "last", "told"), [(3008, 4.0, 3008), (64, 2.5, 0.5)])
def test_the_greatest_difference_that_stands_clear_of_its_noise_is_told(
    masks: float, last: float, told: float
) -> None:
    one = np.array([-1e9, 1.0, 0.5, 0.25, 0.75, 2.0], np.float32)
    other = np.array([-1e9 + masks, 1.0, 0.5, 0.25, 0.75, last], np.float32)
    divergence = parting(one, other, 1e-7, 1e-7)
    assert divergence is not None
    assert divergence.gap.greatest == told


def test_without_a_measured_level_no_multiple_is_told() -> None:
    divergence = parting(3 * DRAWN, 2 * DRAWN, None, 1e-7)
    assert divergence is not None
    assert (divergence.gap.noise, divergence.gap.ratio) == (None, None)
    assert "noise" not in said(divergence)


def test_a_gradient_that_is_all_noise_is_no_divergence_whatever_its_sign() -> None:
    noise = DRAWN * np.float32(1e-9)
    assert not parts(noise, -noise[::-1].copy(), 1e-9, 1e-9)
    assert parts(DRAWN, -DRAWN[::-1].copy(), 1e-9, 1e-9)


def test_a_packed_bias_that_is_half_noise_pairs_and_its_numbers_are_looked_at() -> None:
    numbers = np.linspace(0.5, 2, 6, dtype=np.float32)
    one = np.concatenate([DRAWN * np.float32(1e-9), numbers])
    other = np.concatenate([DRAWN[::-1] * np.float32(1e-9), np.nextafter(numbers, np.float32(9))])
    assert not parts(one, other, 2e-9, 2e-9)
    wrong = other.copy()
    wrong[-1] *= np.float32(1.0001)
    assert parts(one, wrong, 2e-9, 2e-9)


EXAMPLES = np.random.default_rng(2).standard_normal((3, 8)).astype(np.float32)
LOST = EXAMPLES * np.array([[-1], [1], [1]], np.float32)
OFF = LOST.copy()
OFF[2, 3] += np.float32(1e-4)


def noisy_first(engine: str, value: AnyArray) -> GradGraph:
    """A net of whose values the first example is nothing but noise."""
    graph = net(engine, ("Softmax", value, 0.5))
    levels = (0.8, 1e-8, 1e-8)
    nodes = []
    for node in graph.nodes:
        if node.kind != "input":
            outputs = [msgspec.structs.replace(it, levels=levels) for it in node.outputs]
            node = msgspec.structs.replace(node, outputs=tuple(outputs))
        nodes.append(node)
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def test_an_example_that_is_lost_in_rounding_hides_none_of_the_others() -> None:
    one = noisy_first("a", EXAMPLES)
    assert align(one, noisy_first("b", LOST)).divergence is None
    divergence = align(one, noisy_first("b", OFF)).divergence
    assert divergence is not None
    assert divergence.gap.greatest == pytest.approx(1e-4, rel=0.01)
    assert divergence.gap.noise == pytest.approx(1e-7, rel=2)


def test_an_example_that_is_lost_in_rounding_on_one_side_alone_hides_none_of_the_others() -> None:
    still = net("b", ("Softmax", EXAMPLES, 1e-8))
    assert align(noisy_first("a", LOST), still).divergence is None
    alignment = align(still, noisy_first("a", OFF))
    assert alignment.divergence is not None
    assert [pair.left for pair in alignment.pairs] == ["n0"]


@pytest.mark.parametrize("is_first", [True, False])
def test_an_element_within_its_noise_does_not_excuse_one_that_is_beyond_it(is_first: bool) -> None:
    still = EXAMPLES * np.array([[1], [1e-9], [1e-9]], np.float32)
    off = still.copy()
    off[2, 3] = 1e-4
    value, other = (still, off) if is_first else (off, still)
    assert align(noisy_first("a", value), noisy_first("b", other)).divergence is not None


def test_levels_of_examples_are_lent_to_values_of_the_same_shape() -> None:
    lender = noisy_first("a", EXAMPLES)
    plain = net("a", ("Softmax", EXAMPLES, None))
    flat = net("b", ("Softmax", EXAMPLES.ravel(), None))
    for graph in (with_levels(plain, lender), lent_levels(plain, lender)):
        assert [node.outputs[0].levels for node in graph.nodes] == [(), *[(0.8, 1e-8, 1e-8)] * 2]
    assert [node.outputs[0].levels for node in lent_levels(flat, lender).nodes] == [()] * 3


def noise_of(graph: GradGraph) -> list[float | None]:
    return [output.noise for node in graph.nodes for output in node.outputs]


def test_a_capture_takes_the_levels_of_another_capture_of_the_same_graph() -> None:
    measured = net("a", ("Mul", DRAWN, 1e-7), ("Exp", DRAWN * 2, 3e-7))
    plain = net("a", ("Mul", DRAWN, None), ("Exp", DRAWN * 2, None))
    assert noise_of(with_levels(plain, measured)) == [0.0, 1e-7, 3e-7, 3e-7]


def test_a_graph_borrows_the_levels_of_equal_values_and_of_results_by_name() -> None:
    tape = net("a", ("Mul", DRAWN, 1e-7), ("Exp", DRAWN * 2, 3e-7))
    graph = net("b", ("Exp2", 2 * DRAWN[::-1].copy(), None), ("Mul", DRAWN, None))
    assert noise_of(lent_levels(graph, tape)) == [1e-7, 3e-7, 1e-7, 3e-7]


def test_a_float64_value_does_not_borrow_the_level_of_what_is_cast_to_float32_of_it() -> None:
    exact = DRAWN.astype(np.float64)
    tape = net("a", ("Hypot", exact, 1e-16), ("Cast", DRAWN, 1e-7))
    graph = net("b", ("Hypot", exact, None), ("Cast", DRAWN, None))
    assert noise_of(lent_levels(graph, tape))[1:3] == [1e-16, 1e-7]


@pytest.mark.parametrize("noises", [(1e-6, 1e-5), (1e-5, 1e-6)])
def test_a_value_that_the_lender_lacks_is_as_noisy_as_the_noisiest_that_it_is_computed_from(
    noises: tuple[float, float],
) -> None:
    other = np.random.default_rng(1).standard_normal(12).astype(np.float32)
    tape = net("a", ("Mul", DRAWN, noises[0]), ("Exp", other, noises[1]))
    chain = net("b", ("Mul", DRAWN, None), ("Exp", other, None), ("Sum", DRAWN * 100, None))
    both = msgspec.structs.replace(chain, edges=(*chain.edges, Edge("n1", "n3", 0, 1)))
    size = np.sqrt(np.mean(DRAWN**2)), np.sqrt(np.mean(other**2))
    relative = max(noises[0] / size[0], noises[1] / size[1])
    assert noise_of(lent_levels(both, tape))[3] == pytest.approx(100 * size[0] * relative)


def test_a_capture_of_another_graph_lends_levels_by_value() -> None:
    measured = net("a", ("Mul", DRAWN, 1e-7), ("Exp", DRAWN * 2, 3e-7))
    longer = net("a", ("Cast", DRAWN, None), ("Mul", DRAWN, None), ("Exp", DRAWN * 2, None))
    assert noise_of(with_levels(longer, measured)) == [1e-7, 1e-7, 1e-7, 3e-7, 3e-7]
    renamed = net("a", ("Sin", DRAWN * 2, None), ("Mul", DRAWN, None))
    assert noise_of(with_levels(renamed, measured)) == [1e-7, 3e-7, 1e-7, 3e-7]


@pytest.mark.parametrize(
    ("lenders", "level"),
    [
        # The nearest value lends its level, and not a noisier one that is near.
        (((1 + 1e-5, 1e-6), (1 + 5e-3, 1e-4)), 1e-6),
        # Of values that are equally near the noisiest does.
        (((1.0, 1e-6), (1.0, 1e-4)), 1e-4),
        (((1.1, 1e-6),), None),
    ],
)
def test_a_level_is_lent_by_the_nearest_and_noisiest_value(
    lenders: tuple[tuple[float, float], ...], level: float | None
) -> None:
    value = np.linspace(1.0, 2.0, 9)
    lending = net("a", *(("Mul", value * factor, noise) for factor, noise in lenders))
    graph = msgspec.structs.replace(net("b", ("Mul", value, None)), edges=())
    assert noise_of(lent_levels(graph, lending))[1] == level


def test_a_zero_has_the_level_of_a_zero() -> None:
    zeros = np.zeros(12, np.float32)
    tape = net("a", ("Sub", zeros, 0.0), ("Mul", DRAWN, 1e-7))
    # It reads nothing whose level it could have in place of that.
    graph = msgspec.structs.replace(net("b", ("ZerosLike", zeros, None)), edges=())
    assert noise_of(lent_levels(graph, tape))[1] == 0.0


def test_no_noise_comes_along_a_control_edge() -> None:
    tape = net("a", ("Mul", DRAWN, 1e-6))
    graph = net("b", ("Mul", DRAWN, None), ("Other", DRAWN * 100, None))
    waits = [msgspec.structs.replace(edge, kind="control") for edge in graph.edges]
    assert (
        noise_of(lent_levels(msgspec.structs.replace(graph, edges=tuple(waits)), tape))[2] is None
    )
