"""How one value follows from another, and where no relation is claimed."""

from typing import Any

import numpy as np
import pytest

from explorer.compare.causes.composites import applied, tempered
from explorer.compare.causes.from_values import ENDS
from explorer.compare.causes.relations import ValuePair
from explorer.compare.graphs.sameness import Sameness
from explorer.compare.graphs.view import GraphView
from explorer.model.causes import Edit, Factor, InsertOperator
from explorer.numeric.differences import Floats
from tests.support.handmade_graph import HandmadeGraph

RANDOM = np.random.default_rng(5)
OWN: Floats = RANDOM.normal(size=(2, 3, 4))
ROOM = Sameness(1e-6)


def relation(own: Floats, target: Floats, **around: Any) -> Edit | None:
    # What is around them stands in the place of what the graph has.
    made = HandmadeGraph()
    one, other = (made.add("op", value=value) for value in (own, target))
    flow = GraphView(made.record())
    pair = ValuePair("left", flow, flow, flow.nodes[one], flow.nodes[other], ENDS)
    around = {"room": ROOM, "sizes": (), "parts": []} | around
    vars(pair).update(around, own=own, target=target)
    found = pair.follows()
    assert found is None or found.apart <= 1e-5
    return found.edits[0] if found else None


def test_a_factor_goes_by_what_it_is_of_a_size_or_a_probability() -> None:
    factors = {
        1 / 8: Factor(1 / 8, "1/√n", 64),
        8.0: Factor(8.0, "√n", 64),
        1 / 3: Factor(1 / 3, "1/n", 3),
        1 / 0.9: Factor(1 / 0.9, "1/(1-p)", 0.1),
        -2.5: Factor(-2.5),
    }
    for number, factor in factors.items():
        made = relation(OWN, np.asarray(OWN * number, np.float64), sizes=(3, 64, 0.1))
        assert made == InsertOperator(op="mul", factor=factor)


def test_of_a_single_number_only_a_factor_that_stands_for_something_is_no_chance() -> None:
    one = np.array(2.0)
    wanted = InsertOperator(op="mul", factor=Factor(6.0, "n", 6))
    assert relation(one, one * 6.0, sizes=(6,)) == wanted
    assert relation(one, one * 5.5, sizes=(6,)) is None
    assert relation(one, one + 1.25, sizes=(6,)) is None


def test_a_term_or_a_factor_may_be_a_number_or_another_value() -> None:
    bias = RANDOM.normal(size=4)
    around = {"parts": [("fc.bias", bias)]}
    assert relation(OWN, OWN + 1) == InsertOperator(op="add", factor=Factor(1.0))
    assert relation(OWN, OWN + bias, **around) == InsertOperator(op="add", name="fc.bias")
    assert relation(OWN, OWN - bias, **around) == InsertOperator(op="sub", name="fc.bias")
    assert relation(OWN, OWN * bias, **around) == InsertOperator(op="mul", name="fc.bias")
    assert relation(OWN, OWN + RANDOM.normal(size=4), **around) is None
    # A product with zeros says nothing of a bias.
    assert relation(OWN * 0, OWN * 0 + bias, **around) is None


def test_one_side_may_have_a_function_more() -> None:
    values = {"relu": np.maximum(OWN, 0), "exp": np.exp(OWN), "tanh": np.tanh(OWN)}
    for name, value in (*values.items(), ("square", OWN**2)):
        assert relation(OWN, value) == InsertOperator(op="function", name=name)


def softmax(logits: Floats) -> Floats:
    powers: Floats = np.exp(logits)
    made: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return made


def test_two_softmaxes_of_the_same_logits_tell_their_temperature() -> None:
    wanted = InsertOperator(op="temper", factor=Factor(0.5, "1/√n", 4))
    assert relation(softmax(OWN), softmax(OWN / 2), sizes=(4,)) == wanted
    assert relation(np.log(softmax(OWN)), np.log(softmax(OWN / 2)), sizes=(4,)) == wanted


@pytest.mark.parametrize("is_log", [True, False])
def test_a_function_that_only_mends_what_was_rounded_is_no_relation(is_log: bool) -> None:
    powers = np.exp(OWN)
    exact = powers / powers.sum(axis=-1, keepdims=True)
    value, rounded = (
        (np.log(exact), np.log(exact) - 1e-6) if is_log else (exact, exact * (1 - 1e-6))
    )
    assert (
        relation(rounded, value, relations=(applied, tempered), room=Sameness(1e-8, 5e-8)) is None
    )


def test_numbers_that_lie_elsewhere_tell_how_they_were_moved() -> None:
    square = RANDOM.normal(size=(3, 3))
    assert relation(square, square.T) == InsertOperator(op="transpose", numbers=(1, 0))
    assert relation(OWN, OWN[:, ::-1]) == InsertOperator(op="flip", numbers=(1,))
    assert relation(OWN, np.roll(OWN, 1, 2)) == InsertOperator(op="roll", numbers=(2, 1))
    assert relation(OWN, OWN[:, [1, 0, 2]]) == InsertOperator(op="rows", numbers=(1, 1, 0, 2))
    gates = RANDOM.normal(size=(2, 8))
    moved = gates.reshape(2, 4, 2)[:, [0, 2, 1, 3]].reshape(2, 8)
    assert relation(gates, moved) == InsertOperator(op="blocks", numbers=(1, 0, 2, 1, 3))


def test_heads_that_were_cut_by_a_reshape_alone() -> None:
    tokens = RANDOM.normal(size=(2, 6, 8))
    right = tokens.reshape(2, 6, 4, 2).transpose(0, 2, 1, 3)
    wrong = tokens.reshape(2, 4, 6, 2)
    wanted = InsertOperator(op="regroup", shape=(2, 6, 4, 2), numbers=(0, 2, 1, 3))
    assert relation(wrong, right) == wanted


def test_values_that_were_rounded_on_the_way_and_elements_that_are_masked() -> None:
    halves = OWN.astype(np.float16).astype(np.float64)
    assert relation(OWN, halves) == InsertOperator(op="cast", name="float16")
    masked = OWN.copy()
    masked[0, 0, :2] = -1e9
    assert relation(OWN, masked) == InsertOperator(op="fill", factor=Factor(-1e9), numbers=(2,))


def test_values_without_a_relation_have_none() -> None:
    assert relation(OWN, RANDOM.normal(size=OWN.shape)) is None
    assert relation(OWN, OWN[0]) is None
    assert relation(OWN, np.where(OWN > 0, OWN * 2, OWN * 3)) is None


def test_what_is_not_finite_makes_no_relation_and_raises_nothing() -> None:
    spoiled = OWN.copy()
    spoiled[0] = np.nan
    assert relation(OWN, spoiled) is None
    assert relation(spoiled, RANDOM.normal(size=OWN.shape)) is None
    spoiled[0] = -np.inf
    wanted = InsertOperator(op="fill", factor=Factor(-np.inf), numbers=(12,))
    assert relation(OWN, spoiled) == wanted


def test_a_mask_of_great_numbers_takes_no_room_from_the_others() -> None:
    masked = OWN.copy()
    masked[0, 0] = -1e9
    assert relation(masked, np.where(masked < -1, masked, masked + 0.1)) is None
    assert relation(masked, RANDOM.normal(size=OWN.shape)) is None


def test_an_infinity_has_no_room_for_a_number() -> None:
    numbers, infinite = np.array([1.0, 2.0]), np.array([1.0, -np.inf])
    for one, other in ((numbers, infinite), (infinite, numbers)):
        assert ROOM.apart(one, other) is None
    assert ROOM.apart(infinite, infinite) == 0
    assert Sameness(1e-6, most=0.0).apart(numbers, numbers + 1e-7) is None


def test_two_masks_of_two_numbers_differ_by_the_elements_that_one_has_more() -> None:
    diagonal, above = np.triu(np.ones((5, 5)), 1), np.triu(np.ones((1, 5, 5)), 2)
    wanted = InsertOperator(op="fill", factor=Factor(0.0), numbers=(4,))
    assert relation(diagonal, above) == wanted
    assert relation(diagonal, 1 - above) is None


def test_numbers_may_be_shifted_or_turned_along_several_axes() -> None:
    turned = np.roll(OWN, (1, -1), (1, 2))
    assert relation(OWN, turned) == InsertOperator(op="roll", numbers=(1, 1, 2, -1))
    assert relation(OWN, np.flip(OWN, (0, 2))) == InsertOperator(op="flip", numbers=(0, 2))


def test_a_shape_that_the_numbers_had_on_the_way_may_be_the_one_that_is_put_in_order() -> None:
    image = RANDOM.normal(size=(2, 4, 4, 3))
    shape, order = (2, 2, 2, 2, 2, 3), (0, 1, 3, 2, 4, 5)
    put = image.reshape(shape).transpose(order).reshape(image.shape)
    assert relation(image, put) is None
    wanted = InsertOperator(op="regroup", shape=shape, numbers=order)
    assert relation(image, put, shapes=(shape,)) == wanted
