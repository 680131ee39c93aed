"""Causes by recorded values of a whole row: a mean of some elements alone, and factors that are exchanged."""

import numpy as np
import pytest

from explorer.compare.causes.from_values import related_cause
from explorer.compare.graphs.view import GraphView
from explorer.model.arrays import AnyArray
from explorer.model.causes import FromNode, InsertOperator, Rewire
from explorer.model.divergence import OtherValue
from tests.support.divergence_records import other_value, row
from tests.support.handmade_graph import Step, of_steps
from tests.support.narrowing import present

EACH = np.array([0.5, -2.0, 3.0, 0.25, 1.75], np.float32)
HOLDS = np.array([1, 0, 1, 1, 0], np.float32)


def graph(engine: str, *steps: Step) -> GraphView:
    return GraphView(of_steps(engine, *steps, noise=1e-8))


def divergence(first: str, last: str, other: str) -> OtherValue:
    count = 1 if first == last else 2
    return other_value(first, other, rows=(row(last, count), row()))


# Means


def negated_mean(condition: AnyArray) -> GraphView:
    """A condition, and the opposite of the mean of all elements."""
    return graph(
        "jax-tape",
        ("each", "gather", EACH, ""),
        ("holds", "ne", condition, ""),
        ("mean", "mean", EACH.mean(), "each"),
        ("neg", "neg", -EACH.mean(), "mean"),
    )


def mean_there(value: float) -> GraphView:
    return graph("torch-tape", ("loss", "aten.nll_loss", value, ""))


@pytest.mark.parametrize("first", ["mean", "neg"])
def test_a_mean_of_the_elements_for_which_a_condition_holds(first: str) -> None:
    wanted = -EACH[HOLDS == 1].mean()
    parted = divergence(first, "neg", "loss")
    found = present(related_cause(parted, negated_mean(HOLDS), mean_there(wanted)))
    assert (found.side, found.node) == ("left", "mean")
    assert found.edits == (InsertOperator(op="where", name="ne (holds)", numbers=(3, 5)),)


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        (HOLDS, -EACH[HOLDS == 1].mean() * 1.01),  # another number
        (HOLDS, -EACH[HOLDS == 1].sum()),  # a sum
        (1 - HOLDS, -EACH[HOLDS == 1].mean()),  # the mean of the others
        (np.array([2, 0, 1, 1, 0]), -EACH[HOLDS == 1].mean()),  # no condition
    ],
)
def test_another_number_is_no_such_mean(condition: AnyArray, value: float) -> None:
    parted = divergence("mean", "neg", "loss")
    assert related_cause(parted, negated_mean(condition), mean_there(value)) is None


# Factors

SHARE = np.array([0.0, 1.0, 0.25], np.float32)
ONE = np.array([1.5, -2.0, 0.75], np.float32)
OTHER = np.array([4.0, 0.5, 3.0], np.float32)


def sum_of_products() -> GraphView:
    """share · one + (1 - share) · other."""
    return graph(
        "jax-tape",
        ("share", "cast", SHARE, ""),
        ("rest", "sub", 1 - SHARE, ""),
        ("one", "pow", ONE, ""),
        ("other", "pow", OTHER, ""),
        ("p", "mul", SHARE * ONE, "share one"),
        ("q", "mul", (1 - SHARE) * OTHER, "rest other"),
        ("s", "add", SHARE * ONE + (1 - SHARE) * OTHER, "p q"),
    )


def test_a_sum_of_two_products_with_two_factors_exchanged() -> None:
    exchanged = (1 - SHARE) * ONE + SHARE * OTHER
    there = graph("torch-tape", ("t", "aten.add.Tensor", exchanged, ""))
    found = present(related_cause(divergence("s", "s", "t"), sum_of_products(), there))
    factors = FromNode("share", label="cast (share)"), FromNode("rest", label="sub (rest)")
    assert found.edits == tuple(Rewire(source=factor) for factor in factors)


@pytest.mark.parametrize(
    ("op", "value"),
    [
        ("aten.add.Tensor", (1 - SHARE) * ONE - SHARE * OTHER),
        ("aten.sub.Tensor", (1 - SHARE) * ONE + SHARE * OTHER),
        ("aten.add.Tensor", ONE + OTHER),
    ],
)
def test_another_sum_has_no_factors_exchanged(op: str, value: AnyArray) -> None:
    there = graph("torch-tape", ("t", op, value, ""))
    assert related_cause(divergence("s", "s", "t"), sum_of_products(), there) is None
