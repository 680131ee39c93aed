"""Results that depend on random numbers, of which each framework draws its own."""

import numpy as np

from explorer.compare.align import align
from explorer.model.arrays import AnyArray
from explorer.model.graph import GradGraph
from explorer.words.divergences import divergences
from tests.support.alignments import parting, reasons, said, values_read
from tests.support.handmade_graph import HandmadeGraph

X = np.array([1.0, 2, 3, 4])
ONE_MASK, ANOTHER_MASK = np.array([2.0, 0, 2, 0]), np.array([0, 2.0, 2, 2])
OTHER_RATE = np.array([0, 1.25, 1.25, 1.25])


def net(
    mask: AnyArray | None, slope: float = 3.0, drop: str = "aten.bernoulli.p", last: str = ""
) -> GradGraph:
    """x · slope, dropped out where there is a mask, beside its sum without dropout.

    ``last`` is an op of numpy's that is applied to what was dropped out.
    """
    graph = HandmadeGraph()
    x = graph.add("input", kind="input", name="x", value=X)
    product = graph.add("mul", [x], value=X * slope)
    kept, value = product, X * slope
    if mask is not None:
        drawn = graph.add(drop, [product], value=mask)
        value = X * slope * mask
        kept = graph.add("mul", [product, drawn], value=value)
    if last:
        value = getattr(np, last)(value)
        kept = graph.add(last, [kept], value=value)
    graph.add("output", [kept], kind="output", name="dropped", value=value)
    total = graph.add("sum", [product], value=(X * slope).sum())
    graph.add("output", [total], kind="output", name="total", value=(X * slope).sum())
    return graph.record()


def test_what_depends_on_a_draw_on_both_sides_is_no_difference() -> None:
    left, right = net(ONE_MASK), net(ANOTHER_MASK)
    alignment = align(left, right)
    assert alignment.divergence is None
    assert alignment.differing == ()
    assert alignment.drawn == ("dropped",)
    assert not alignment.is_same
    assert reasons(alignment, "left", left)["aten.bernoulli.p"] == "random"


def test_a_difference_before_the_draw_is_told() -> None:
    left, right = net(ONE_MASK), net(ANOTHER_MASK, slope=2.0)
    assert parting(left, right).left == "mul"
    assert align(left, right).differing == ("total",)


def test_a_draw_on_one_side_alone_is_a_difference() -> None:
    alignment = align(net(ONE_MASK), net(None))
    assert alignment.divergence is not None
    assert alignment.differing == ("dropped",)
    assert alignment.drawn == ()


def test_the_derivative_of_dropout_draws_nothing() -> None:
    left = net(ONE_MASK, drop="DropoutGrad")
    assert align(left, net(ANOTHER_MASK, drop="DropoutGrad")).divergence is not None


def test_dropouts_of_other_rates_part_whatever_they_drop() -> None:
    left, right = net(ONE_MASK), net(OTHER_RATE)
    divergence = align(left, right).divergence
    assert divergence
    assert said(divergence).startswith("First divergence in forward: `mul`")
    assert "0.5 of them against 0.2" in said(divergence)
    assert values_read(divergence) == ("2", "1.25")
    mirrored = align(right, left).divergence
    assert mirrored
    assert values_read(mirrored) == ("1.25", "2")


def test_a_rate_comes_before_a_difference_that_is_found_beside_it() -> None:
    alignment = align(net(ONE_MASK), net(OTHER_RATE, slope=2.0))
    first, *further = divergences(alignment)
    assert "at different rates" in first
    assert [sentence.startswith("Further divergence") for sentence in further] == [True]


def test_nothing_is_said_of_rates_where_a_dropout_drops_nothing_by_chance() -> None:
    assert align(net(ONE_MASK), net(np.full(4, 1.25))).divergence is None


def dropouts(*masks: AnyArray, x: AnyArray = X) -> GradGraph:
    """x dropped out by one mask after another."""
    graph = HandmadeGraph()
    value = x
    kept = graph.add("input", kind="input", name="x", value=x)
    for mask in masks:
        drawn = graph.add("aten.bernoulli.p", [kept], value=mask)
        value = value * mask
        kept = graph.add("mul", [kept, drawn], value=value)
    graph.add("output", [kept], kind="output", name="dropped", value=value)
    return graph.record()


def test_the_rate_at_which_infinities_are_dropped_is_not_known() -> None:
    left, right = (
        dropouts(it, x=np.array([1.0, np.inf, 3, 4])) for it in (ANOTHER_MASK, OTHER_RATE)
    )
    assert align(left, right).divergence is None


def test_a_dropout_is_not_compared_with_another_one_because_one_dropped_nothing() -> None:
    nothing, no_more = np.full(4, 2.0), np.full(4, 1.25)
    left, right = dropouts(nothing, OTHER_RATE), dropouts(ONE_MASK, no_more)
    assert align(left, right).divergence is None
    left, right = dropouts(ONE_MASK, OTHER_RATE), dropouts(ANOTHER_MASK, ONE_MASK)
    divergence = align(left, right).divergence
    assert divergence
    assert "0.2 of them against 0.5" in said(divergence)


def test_behind_the_same_draws_another_op_is_a_difference() -> None:
    left, right = net(ONE_MASK, last="sin"), net(ONE_MASK, last="tanh")
    found = align(left, right)
    assert found.drawn == ()
    assert found.differing == ("dropped",)
    assert parting(left, right).right == "tanh"
    assert align(left, net(ANOTHER_MASK, last="tanh")).drawn == ("dropped",)


def test_where_one_side_draws_once_more_they_have_not_drawn_the_same() -> None:
    alignment = align(dropouts(ONE_MASK), dropouts(ONE_MASK, ANOTHER_MASK))
    assert (alignment.divergence, alignment.drawn) == (None, ("dropped",))
