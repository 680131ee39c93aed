"""Training steps without a framework.

Planted differences are measured, and without evidence nothing is told.
"""

import pytest

from explorer.topics.question import MINDSPORE_STYLES
from explorer.topics.training.findings_routes import ROUTES
from explorer.topics.training.inputs import SHAPES, batches, start
from explorer.topics.training.update_rules import (
    NEAR,
    PLACES,
    UPDATE_RULES,
    accumulation_difference,
    compare_rules,
    farthest,
    list_difference,
    moved_weights,
    step_differences,
)
from explorer.words.messages import text


def test_every_route_is_a_question_of_its_own_and_styles_come_in_pairs() -> None:
    assert len(set(ROUTES)) == len(ROUTES) == 15
    measured = {(route.question, route.party) for route in ROUTES}
    for question, party in measured:
        assert party in question.asks
    for route in ROUTES:
        if route.party in MINDSPORE_STYLES:
            assert route.framework == "MindSpore"
            assert route.party.removeprefix("mindspore-") in text(route.label)


def test_the_start_is_the_same_at_every_call_and_batch_norm_starts_neutral() -> None:
    values = start()
    assert {name: value.shape for name, value in values.items()} == SHAPES
    assert all((values[name] == start()[name]).all() for name in SHAPES)
    assert values["norm.weight"].tolist() == values["norm.running_var"].tolist() == [1, 1]
    ((pictures, targets),) = batches(1, 8)
    assert (pictures.shape, targets.shape) == ((8, 1, 4, 4), (8, 1))


def test_a_planted_difference_of_two_routes_is_found_with_its_step_and_weight() -> None:
    reference = [{"a": [1.0, 2.0], "b": [3.0]}, {"a": [1.0, 2.0], "b": [3.0]}]
    states = [{"a": [1.0, 2.0], "b": [3.0]}, {"a": [1.001, 2.0], "b": [3.0]}]
    assert step_differences(states, reference) == [0.0, pytest.approx(1e-3)]
    assert farthest(states, reference) == "a"


def test_only_weights_count_as_moved() -> None:
    before = {"fc.weight": [1.0], "fc.bias": [0.0], "norm.running_var": [1.0]}
    after = {"fc.weight": [0.9], "fc.bias": [0.0], "norm.running_var": [0.8]}
    assert moved_weights(before, after) == ["fc.weight"]


def test_lists_of_gradients_of_different_lengths_are_compared_one_by_one() -> None:
    assert list_difference([[1.0, 2.0], [3.0]], [[1.0, 2.0], [3.5]]) == 0.5


def test_accumulated_gradients_are_compared_with_the_whole_batchs() -> None:
    gradients = {"whole": {"w": [1.0]}, "added": {"w": [4.0]}, "divided": {"w": [1.0]}}
    assert accumulation_difference({"mean": gradients}, "mean", "added") == 3.0
    assert accumulation_difference({"mean": gradients}, "mean", "divided") == 0.0


@pytest.mark.parametrize(("planted", "same"), [(0.5 * NEAR, True), (2 * NEAR, False)])
def test_an_update_rule_is_the_same_up_to_a_few_float32_roundings(
    planted: float, same: bool
) -> None:
    rule = UPDATE_RULES[0].name
    updates = {place: {rule: [[1.0], [2.0]]} for place in PLACES}
    updates["nn"][rule] = [[1.0], [2.0 + planted]]
    (comparison,) = compare_rules(updates)
    assert comparison.same == same
    assert comparison.differences["nn"] == pytest.approx(planted)
    assert comparison.differences["experimental"] == 0.0


def test_a_refused_rule_has_a_message_and_no_difference() -> None:
    rule = UPDATE_RULES[0].name
    refusal = {"raised": "RuntimeError", "message": "no kernel"}
    (comparison,) = compare_rules({"nn": {rule: refusal}, "torch": {rule: [[1.0]]}})
    assert comparison.refused == {"nn": "no kernel"}
    assert comparison.differences == {}
    assert not comparison.same
