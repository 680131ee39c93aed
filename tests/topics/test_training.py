"""Training steps: as they are recorded, planted differences, and what is told where every figure is known."""

from typing import Any

import numpy as np
import pytest

from explorer.model.measurement import Measured
from explorer.model.study import Cell
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import MINDSPORE_STYLES, PARTIES, Target
from explorer.topics.training.claims_steps import weights_of
from explorer.topics.training.findings_routes import (
    REFERENCE,
    ROUTES,
    TAPE,
    StepRoute,
    states_by_route,
)
from explorer.topics.training.inputs import SHAPES, batches, start
from explorer.topics.training.questions import (
    FILTERED,
    GROUPS,
    INDUCTOR,
    OPTIMIZER_STATE,
    SCALED_STEP,
    SPEED,
    STEP_CELL,
    TOPIC,
    WEIGHT_DECAY,
    WITHOUT_SET_GRAD,
)
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
from explorer.workers.workers import Workers
from tests.support.tellings import (
    chart_of,
    check_telling,
    lines_of,
    rows_by_first,
    table_of,
    telling_text,
    told,
    told_after,
)
from tests.support.topics import World, put, recorded_study

NOT_ANNOUNCED = StepRoute(WITHOUT_SET_GRAD, TAPE, "GradOperation step, tape, no set_grad()")


def test_a_hand_written_step_without_set_grad_runs_its_forward_twice_on_the_tape() -> None:
    states = states_by_route(Evidence(recorded_study("training")))
    reference, not_announced = states[REFERENCE], states[NOT_ANNOUNCED]
    assert farthest(not_announced, reference) == "norm.running_var"
    once = np.array(reference[0]["norm.running_var"])
    twice = np.array(not_announced[0]["norm.running_var"])
    # A running variance of 1 becomes 0.9 + 0.1 of the batch's, and is moved on once more.
    of_batch = (once - 0.9) / 0.1
    np.testing.assert_allclose(twice, 0.9 * once + 0.1 * of_batch, rtol=1e-5)
    assert max(step_differences(weights_of(not_announced), weights_of(reference))) <= NEAR


@pytest.mark.whole
@pytest.mark.torch
@pytest.mark.usefixtures("own_nurseries")  # PyTorch reads the variable when it is imported
def test_inductor_without_a_compiler_is_an_outcome_with_its_own_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with Workers() as fresh_workers:
        measured = measure(INDUCTOR.measurements(Target()), fresh_workers)
    outcome = measured[INDUCTOR.measurement_name("torch")]
    assert outcome.outcome == "ok"
    assert raised(outcome.figures)
    assert "compiler" in outcome.figures["message"].lower()


@pytest.mark.parametrize(
    ("framework", "verdicts"),
    [
        ("torch", {"MindSpore": {"not measured"}, "PyTorch": {"same"}}),
        ("mindspore", {"MindSpore": {"not compared"}, "PyTorch": {"not measured"}}),
    ],
)
def test_routes_and_rules_of_one_framework_are_not_compared(
    framework: str, verdicts: dict[str, set[str]]
) -> None:
    measured = recorded_study("training")
    library = {name: PARTIES[name.rpartition(".")[2]].library for name in measured}
    own = {name: measured[name] for name in measured if library[name] == framework}
    telling = telling_text(TOPIC, Evidence(own))

    routes = table_of(telling, "step 1")
    of_routes: dict[Cell, set[Cell]] = {}
    for row in routes.rows:
        of_routes.setdefault(row[0], set()).add(row[-1])
    assert of_routes == verdicts
    # A rule that PyTorch has is not MindSpore's alone where PyTorch was not measured.
    for row in table_of(telling, "torch.optim").rows:
        assert row[-1] != "MindSpore alone" or row[3] == EMPTY, row
        assert row[-1] not in ("same", "parts"), row
        assert row[4:6] == (None, None), row


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


REFUSED = {"raised": "KeyError", "message": "no such thing."}


# The step


def test_parameters_that_were_chosen_are_told_with_those_that_moved() -> None:
    figures = {"type": "list", "chosen": ["a", "b"], "moved": ["b"]}
    other = {"type": "generator", "chosen": ["a", "b"], "moved": ["a", "c"]}
    (finding,) = told(
        TOPIC, {(FILTERED, "mindspore"): figures, (FILTERED, "torch"): other}
    ).findings
    for words in ("trainable_params() is a list", "parameters() a generator", "given only a, b"):
        assert words in finding
    assert "step moves b and PyTorch's a, c." in finding


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ({"graph": 0.5, "tape": 0.5}, ["runs, with the loss 0.5, in graph and tape style."]),
        (
            {"graph": REFUSED, "tape": 0.5},
            ["does not run here (KeyError: no such thing), in graph style.", "0.5, in tape style."],
        ),
    ],
)
def test_whether_a_scaled_step_runs_is_told_by_style(
    outcomes: dict[str, Any], words: list[str]
) -> None:
    findings = told(TOPIC, {(SCALED_STEP, "mindspore"): outcomes}).findings
    assert len(findings) == len(words)
    for finding, ending in zip(findings, words, strict=True):
        assert finding.endswith(ending)


def test_times_are_milliseconds_and_first_calls_are_not_drawn() -> None:
    seconds = {"by itself, first call": 0.5, "by itself": 0.0123456, "ms.jit": 0.002}
    name = SPEED.measurement_name("mindspore")
    telling = telling_text(TOPIC, Evidence({name: Measured(outcome="ok", timings=seconds)}))
    check_telling(telling)
    table = table_of(telling, "milliseconds")
    assert table.columns[:2] == ("where", "way")
    assert table.timing
    assert table.rows == (
        ("MindSpore, tape", "by itself, first call", 500.0),
        ("MindSpore, tape", "by itself", 12.346),
        ("MindSpore, tape", "ms.jit", 2.0),
    )
    chart = chart_of(telling, "training-times")
    assert chart.timing
    assert chart.kind == "points"
    assert chart.log == ("y",)
    (bars,) = lines_of(chart).values()
    assert bars == {"MindSpore, tape, by itself": 12.3456, "MindSpore, tape, ms.jit": 2.0}


# Optimizers


def test_an_optimizer_that_is_refused_has_no_weights_and_spares_none() -> None:
    default = put(WEIGHT_DECAY, ["torch"], "torch SGD", "default", value=REFUSED)
    decayed = put(WEIGHT_DECAY, ["torch"], "torch Adam", "0.1", value=REFUSED)
    telling = told_after("training", default, decayed)
    rows = rows_by_first(table_of(telling, "weight by default"))
    refused = (None, None, None, None, "KeyError: no such thing.")
    assert rows["torch SGD"] == rows["torch Adam"] == refused
    assert (
        sum("spares nothing in" in text and "torch SGD" in text for text in telling.findings) == 1
    )
    assert not any("torch Adam," in text for text in telling.findings)


def test_a_state_that_is_refused_is_said_in_its_cell() -> None:
    refused = put(OPTIMIZER_STATE, ["mindspore"], "nn", "state_dict", value=REFUSED)
    telling = told_after("training", refused)
    (table,) = (table for table in telling.tables if table.title.startswith("What an SGD"))
    assert rows_by_first(table)["names in state_dict"][0] == "KeyError: no such thing."


def test_a_way_that_is_refused_in_one_style_is_told_and_a_setting_without_a_figure_is_a_dash() -> (
    None
):
    def no_figure(world: World) -> None:
        del world[GROUPS, "torch"]["torch"]["anything"]

    telling = told_after("training", put(STEP_CELL, ["mindspore-tape"], value=REFUSED), no_figure)
    assert any("TrainOneStepCell, tape is refused: KeyError:" in text for text in telling.findings)
    rows = {row[1]: row for row in table_of(telling, "step 1").rows}
    assert rows["TrainOneStepCell, tape"][2:] == (*[None] * 5, "KeyError: no such thing.")
    assert rows_by_first(table_of(telling, "setting"))["anything"][-1] == "-"
