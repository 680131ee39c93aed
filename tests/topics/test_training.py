"""The study of training steps on the installed frameworks.

Every route leaves the same weights, and where rules, groups and steps part it is told.
"""

import math

import numpy as np
import pytest

from explorer.model.measurement import Figures
from explorer.model.study import Cell, StudyRecord
from explorer.topics.attempts import raised
from explorer.topics.evidence import EMPTY, Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import PARTIES, Question, Target
from explorer.topics.studies import target
from explorer.topics.training.claims_steps import weights_of
from explorer.topics.training.findings_routes import REFERENCE, TAPE, StepRoute, states_by_route
from explorer.topics.training.findings_steps import PARTS, parts_of
from explorer.topics.training.inputs import RATE, STEPS, WEIGHT, gradients
from explorer.topics.training.questions import (
    ACCUMULATION,
    ADD_PARAM_GROUP,
    CLIPPING,
    COMPILED,
    DISPATCHES,
    EXPORTED_OPTIMIZERS,
    FUNCTIONAL,
    GRAPHS,
    GROUPS,
    INDUCTOR,
    LOOP,
    MOMENTUM,
    TOPIC,
    UPDATES,
    WEIGHT_DECAY,
    WITHOUT_SET_GRAD,
)
from explorer.topics.training.update_rules import (
    FUSED,
    MEANT,
    NEAR,
    PRINTED,
    accumulation_difference,
    compare_rules,
    farthest,
    list_difference,
    step_differences,
)
from explorer.workers.workers import Workers
from tests.support.tellings import check_every_failure, check_telling, table_of, telling_text
from tests.support.topics import studied

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

NOT_ANNOUNCED = StepRoute(WITHOUT_SET_GRAD, TAPE, "GradOperation step, tape, no set_grad()")


@pytest.fixture(scope="module")
def record(workers: Workers) -> StudyRecord:
    """One run of the study, but for inductor."""
    return studied("training", workers)


@pytest.fixture(scope="module")
def evidence(record: StudyRecord) -> Evidence:
    """What that run measured."""
    return Evidence(record.measured)


def figures_of(evidence: Evidence, question: Question) -> tuple[Figures, Figures]:
    """MindSpore's figures of a question, and PyTorch's."""
    return evidence[question]["mindspore"], evidence[question]["torch"]


def test_every_measurement_is_made(evidence: Evidence) -> None:
    assert evidence.failures == {}


def test_every_route_leaves_the_same_weights_and_statistics_after_each_step(
    evidence: Evidence,
) -> None:
    states = states_by_route(evidence)
    assert len(states) == 14
    for route, left in states.items():
        assert len(left) == STEPS
        if route != NOT_ANNOUNCED:
            assert max(step_differences(left, states[REFERENCE])) <= NEAR, route.label


def test_the_steps_move_every_weight(evidence: Evidence) -> None:
    states = states_by_route(evidence)[REFERENCE]
    for name in ("conv.weight", "norm.weight", "norm.bias", "fc.weight", "norm.running_var"):
        assert states[0][name] != states[-1][name], name


def test_a_hand_written_step_without_set_grad_runs_its_forward_twice_on_the_tape(
    evidence: Evidence,
) -> None:
    states = states_by_route(evidence)
    reference, not_announced = states[REFERENCE], states[NOT_ANNOUNCED]
    assert farthest(not_announced, reference) == "norm.running_var"
    once = np.array(reference[0]["norm.running_var"])
    twice = np.array(not_announced[0]["norm.running_var"])
    # A running variance of 1 becomes 0.9 + 0.1 of the batch's, and is moved on once more.
    of_batch = (once - 0.9) / 0.1
    np.testing.assert_allclose(twice, 0.9 * once + 0.1 * of_batch, rtol=1e-5)
    assert max(step_differences(weights_of(not_announced), weights_of(reference))) <= NEAR


def test_sgd_and_adamw_follow_their_closed_forms(evidence: Evidence) -> None:
    sgd, decayed = WEIGHT.astype(float), WEIGHT.astype(float)
    first = second = np.zeros(3)
    for step, gradient in enumerate(gradients(), 1):
        sgd = sgd - RATE * gradient
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        corrected_first, corrected_second = first / (1 - 0.9**step), second / (1 - 0.999**step)
        decayed = decayed * (1 - RATE * 0.1)
        decayed = decayed - RATE * corrected_first / (np.sqrt(corrected_second) + 1e-8)
    paths = evidence[UPDATES]
    for place in ("nn", "experimental", "torch"):
        np.testing.assert_allclose(paths[place]["SGD"][-1], sgd, rtol=1e-6)
    for place in ("experimental", "torch"):
        np.testing.assert_allclose(paths[place]["AdamW"][-1], decayed, rtol=1e-5)


def test_only_two_update_rules_of_mindspore_part_from_pytorchs(evidence: Evidence) -> None:
    parting = set()
    for comparison in compare_rules(evidence[UPDATES]):
        for place, difference in comparison.differences.items():
            if difference > NEAR:
                parting.add((comparison.name, place))
    assert parting == {("AdamW", "nn"), ("RMSprop", "nn")}


def test_adam_weight_decay_leaves_out_the_correction_of_its_averages(evidence: Evidence) -> None:
    gradient = gradients()[0].astype(float)
    uncorrected = 0.1 * gradient / (np.sqrt(0.001 * gradient**2) + 1e-8)
    expected = WEIGHT * (1 - RATE * 0.1) - RATE * uncorrected
    np.testing.assert_allclose(evidence[UPDATES]["nn"]["AdamW"][0], expected, rtol=1e-5)


def test_momentum_leaves_the_weight_where_its_formula_says_printed_and_meant(
    evidence: Evidence,
) -> None:
    start = np.array([1.0, 2.0, 3.0])
    meant, moment, printed = start, np.zeros(3), start
    for _ in range(3):
        moment = 0.9 * moment + 1.0
        meant = meant - 0.1 * moment
        # As the guide prints it: the weight is multiplied, and the moment stays 0.
        printed = 0.9 * printed + 0.1
    for style, paths in evidence[MOMENTUM]["mindspore"].items():
        for way in (*MEANT, FUSED):
            np.testing.assert_allclose(paths[way][-1], meant, rtol=1e-6, err_msg=f"{way}, {style}")
        small, fused = (paths[way] for way in PRINTED)
        np.testing.assert_allclose(small[-1], printed, rtol=1e-6, err_msg=style)
        assert fused["raised"] == "AttributeError"
        assert "no attribute 'momentum'" in fused["message"]


def test_weight_decay_spares_gamma_and_beta_in_nn_alone(evidence: Evidence) -> None:
    mindspore, torch = figures_of(evidence, WEIGHT_DECAY)
    assert mindspore["nn SGD"]["0.1"] == pytest.approx(
        {"fc.weight": 0.99, "fc.bias": 0.99, "norm.gamma": 1.0, "norm.beta": 1.0}
    )
    everything = {"fc.weight": 0.99, "fc.bias": 0.99, "norm.gamma": 0.99, "norm.beta": 0.99}
    assert mindspore["experimental SGD"]["0.1"] == pytest.approx(everything)
    assert torch["torch SGD"]["0.1"] == pytest.approx(everything)
    assert torch["torch AdamW"]["default"]["fc.weight"] == pytest.approx(1 - RATE * 0.01)


def test_a_groups_own_momentum_is_refused_by_nn_and_used_by_the_others(evidence: Evidence) -> None:
    mindspore, torch = figures_of(evidence, GROUPS)
    refusal = mindspore["nn"]["momentum"]["message"]
    assert "must be one of in ['params', 'lr', 'weight_decay'" in refusal
    for settings in (mindspore["experimental"], torch["torch"]):
        assert settings["momentum"]["first"] == pytest.approx([1 - 0.1 - 0.19, 3 - 0.3 - 0.57])
        assert settings["momentum"]["second"] == pytest.approx([0.8, 2.4])


def test_gradients_of_narrow_rows_are_not_centralized_and_nothing_says_so(
    evidence: Evidence,
) -> None:
    settings = evidence[GROUPS]["mindspore"]["nn"]
    narrow = settings["grad_centralization, rows of 2"]
    assert narrow["first"] == narrow["second"]
    assert "[Centralization] on CPU" in settings["grad_centralization, rows of 16"]["message"]


def test_a_step_after_add_param_group_works_in_pytorch_alone(evidence: Evidence) -> None:
    mindspore, torch = figures_of(evidence, ADD_PARAM_GROUP)
    assert torch["torch"]["SGD"] == {
        "first": [pytest.approx(0.9)],
        "second": [pytest.approx(0.5)],
    }
    for place, optimizers in mindspore.items():
        for name, figure in optimizers.items():
            assert raised(figure), (place, name)
    assert "same length" in mindspore["experimental"]["Adam"]["message"]


def test_clipping_scales_to_the_norm_and_leaves_smaller_gradients(evidence: Evidence) -> None:
    mindspore, torch = figures_of(evidence, CLIPPING)
    assert mindspore["default"] == 1.0
    by_default = mindspore["by default"]
    assert math.hypot(*by_default[0], *by_default[1]) == pytest.approx(1)
    for norm, clipped in mindspore["by norm"].items():
        assert list_difference(clipped, torch["by norm"][norm]["gradients"]) < 1e-6
        assert math.hypot(*clipped[0], *clipped[1]) == pytest.approx(min(float(norm), 13))
    assert mindspore["by value"] == torch["by value"] == [[3, 4], [5]]
    assert mindspore["given gradients afterwards"] == [[3, 4], [12]]


@pytest.mark.parametrize("framework", ["mindspore", "torch"])
def test_micro_batches_add_up_divided_for_a_mean_and_as_they_are_for_a_sum(
    evidence: Evidence, framework: str
) -> None:
    figures = evidence[ACCUMULATION][framework]
    assert accumulation_difference(figures, "mean", "divided") < 1e-6
    assert accumulation_difference(figures, "mean", "added") > 1
    assert accumulation_difference(figures, "sum", "added") < 1e-6


def test_with_jit_a_step_is_one_graph_of_forward_backward_and_update(evidence: Evidence) -> None:
    graphs = evidence[GRAPHS]["mindspore"]
    assert [parts_of(counts) for counts in graphs["ms.jit"]] == [list(PARTS)]
    in_graph_style = [parts_of(counts) for counts in graphs["graph"]]
    assert in_graph_style == [["forward", "backward"], ["update"]]
    dispatched = evidence[DISPATCHES]["mindspore"]
    assert dispatched["ms.jit"] == []
    assert len(dispatched["forward"]) == 11


def test_a_compiled_step_of_pytorch_breaks_at_zero_grad_and_backward(evidence: Evidence) -> None:
    figures = evidence[COMPILED]["torch"]
    assert figures["graphs"] == 2
    assert "Unsupported Tensor.backward() call" in figures["breaks"]


def test_functional_gradients_refuse_statistics_that_they_capture(evidence: Evidence) -> None:
    refusal = evidence[FUNCTIONAL]["torch"]["statistics captured"]
    assert "mutate a captured Tensor" in refusal["message"]


@pytest.mark.whole
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


def test_the_same_measurements_give_the_same_figures_again(
    record: StudyRecord, workers: Workers
) -> None:
    questions = (
        LOOP,
        UPDATES.by("torch"),
        CLIPPING.by("torch"),
        DISPATCHES.by("torch"),
        ACCUMULATION.by("mindspore"),
        EXPORTED_OPTIMIZERS.by("mindspore"),
    )
    measurements = [question.measurements(Target())[0] for question in questions]
    for name, outcome in measure(measurements, workers).items():
        assert outcome.figures == record.figures[name], name


def test_the_study_tells_what_parts_and_what_is_refused(record: StudyRecord) -> None:
    findings = "\n".join(record.findings)
    assert "12 of 13 ways to take a step leave the weights" in findings
    assert "AdamW: nn AdamWeightDecay parts from torch.optim.AdamW by 0.8." in findings
    assert "spares norm.gamma, norm.beta in nn SGD, nn Momentum, nn Adam." in findings
    assert "Unsupported op [NPUGetFloatStatusV2] on CPU" in findings
    charts = {chart.name: chart.timing for chart in record.charts}
    assert charts == {"training-routes": False, "training-updates": False, "training-times": True}


def test_tables_are_read_from_the_routes_to_the_time_of_a_step(record: StudyRecord) -> None:
    titles = [table.title for table in record.tables]
    assert len(titles) == 10
    assert titles[0].startswith("Every way to take a step")
    assert titles[2].startswith("Update rules")
    assert titles[6].startswith("Clipping gradients")
    assert titles[-1] == "Time of a step"


def test_what_was_not_measured_is_a_row_with_its_reason(record: StudyRecord) -> None:
    verdicts = {row[1]: row[-1] for row in record.tables[0].rows}
    assert verdicts["torch.compile, inductor"] == "not measured"
    assert verdicts["torch.compile, aot_eager"] == "same"


def library(measurement: str) -> str:
    """The library that a measurement was made in; its name ends with the party."""
    return PARTIES[measurement.rpartition(".")[2]].library


@pytest.mark.parametrize(
    ("framework", "verdicts"),
    [
        ("torch", {"MindSpore": {"not measured"}, "PyTorch": {"same", "not measured"}}),
        ("mindspore", {"MindSpore": {"not compared"}, "PyTorch": {"not measured"}}),
    ],
)
def test_with_one_framework_missing_the_other_is_told_alone(
    record: StudyRecord, framework: str, verdicts: dict[str, set[str]]
) -> None:
    of_framework = [name for name in record.measured if library(name) == framework]
    telling = telling_text(TOPIC, Evidence({name: record.measured[name] for name in of_framework}))
    check_telling(telling)

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

    own, missing = ("PyTorch", "MindSpore") if framework == "torch" else ("MindSpore", "PyTorch")
    assert any(own in finding for finding in telling.findings)
    for text in (*telling.findings, *(s.name for c in telling.charts for s in c.series)):
        assert missing not in text


def test_what_is_told_can_be_read_whichever_measurement_fails(record: StudyRecord) -> None:
    looked_at = target(TOPIC, None, "cpu")
    check_telling(telling_text(TOPIC, Evidence(record.measured, looked_at)))
    check_every_failure(TOPIC, record.measured, looked_at, every=9)
