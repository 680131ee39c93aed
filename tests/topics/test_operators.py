"""Operators on the installed versions: guides' figures, closed forms, gradients at kinks."""

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.failures import Failure
from explorer.model.measurement import Figures, Measured
from explorer.model.study import Table
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.operators.findings_kinks import gradient, measured_kinks
from explorer.topics.operators.inputs import BATCH, LABELS, LOGITS, MEAN, MOMENTA, WINDOWS
from explorer.topics.operators.questions import (
    BATCH_NORM_MOMENTUM,
    BATCH_NORM_STATES,
    CONVOLUTION_SIDES,
    CROSS_ENTROPY,
    DROPOUT_DRAWS,
    DROPOUT_MASK,
    DROPOUT_SETTINGS,
    EPSILONS,
    FOUR_ENGINES,
    GELU,
    GRADIENTS_AT_KINKS,
    INFERENCE,
    INITIAL_VALUES,
    LIBRARIES,
    MAX_POOL,
    OPERATOR_GRADIENTS,
    SLOPES_AT_KINKS,
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import (
    CHANNELS,
    UNIFORM,
    BatchNormState,
    batch_norm_epsilon,
    close,
    gelu_formula,
    initial_values,
    layer_norm_epsilon,
    odd_sides,
    statistics_moved,
    statistics_used,
    valid_size,
)
from explorer.topics.operators.wording import by_answer
from explorer.topics.question import FRAMEWORKS, MINDSPORE_STYLES, PARTIES, Question, Target
from explorer.topics.studies import Telling
from explorer.workers.workers import Workers
from tests.support.tellings import check_every_failure, check_telling, telling_text
from tests.support.topics import measured_once

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


@pytest.fixture(scope="module")
def measured(workers: Workers) -> dict[str, Measured]:
    return measured_once(workers, TOPIC.measurements(Target()))


@pytest.fixture(scope="module")
def evidence(measured: dict[str, Measured]) -> Evidence:
    return Evidence(measured)


@pytest.fixture(scope="module")
def telling(evidence: Evidence) -> Telling:
    return telling_text(TOPIC, evidence)


def answers_at_kink(evidence: Evidence, name: str) -> Figures:
    """The figures of each engine at one kink."""
    kinks = {measured.kink.name: measured for measured in measured_kinks(evidence)}
    return kinks[name].answers


def table_called(title: str, telling: Telling) -> Table:
    (table,) = (table for table in telling.tables if table.title == title)
    return table


def test_everything_is_measured(evidence: Evidence) -> None:
    assert evidence.failures == {}


@pytest.mark.parametrize(
    ("function", "mindspore", "torch"),
    [
        ("relu", "0", "0"),
        ("relu_by_maximum", "0.5", "0.5"),
        ("relu_by_clamp", "1", "1"),
        ("relu6", "[0, 1]", "[0, 0]"),
        ("leaky_relu", "0.55", "0.1"),
        ("hardtanh", "[0.5, 0.5]", "[0, 0]"),
        ("hardswish", "[-0.5, 1.5]", "[0, 1]"),
        ("absolute", "0", "0"),
        ("clamp", "[1, 1]", "[1, 1]"),
        ("maximum", "0.5, 0.5", "0.5, 0.5"),
        ("max_of_all", "[0.5, 0.5, 0]", "[0.5, 0.5, 0]"),
        ("max_along_axis", "[1, 0, 0]", "[1, 0, 0]"),
        ("norm_inf", "[1, 0, 0]", "[0.5, 0.5, 0]"),
        ("sqrt", "∞", "∞"),
        ("power_zero", "NaN", "0"),
        ("norm", "[NaN, NaN]", "[0, 0]"),
        ("norm_by_hand", "[NaN, NaN]", "[NaN, NaN]"),
        ("std", "[NaN, NaN]", "[0, 0]"),
        ("where_log", "[NaN, 1]", "[NaN, 1]"),
        ("where_twice", "[0, 1]", "[0, 1]"),
        ("relu_of_nan", "0", "1"),
    ],
)
def test_gradient_at_a_kink_is_the_frameworks_in_both_styles(
    evidence: Evidence, function: str, mindspore: str, torch: str
) -> None:
    answers = answers_at_kink(evidence, function)
    assert {engine: gradient(answer) for engine, answer in answers.items()} == {
        "mindspore-graph": mindspore,
        "mindspore-tape": mindspore,
        "torch-graph": torch,
        "torch-tape": torch,
    }


def test_a_branch_on_a_value_is_no_graph_in_pytorch_and_zero_in_mindspore(
    evidence: Evidence,
) -> None:
    answers = answers_at_kink(evidence, "branch")
    assert answers["torch-graph"] == {
        "raised": "Unsupported",
        "message": "Data-dependent branching",
    }
    assert answers["torch-tape"]["raised"] == "RuntimeError"
    assert {gradient(answers[style]) for style in MINDSPORE_STYLES} == {"0"}


def test_kink_functions_are_shown_as_each_framework_has_them(evidence: Evidence) -> None:
    corners = evidence[GRADIENTS_AT_KINKS["corners"]]
    written = {engine: figures["relu6"]["written"] for engine, figures in corners.items()}
    assert by_answer(written, str) == [
        ("MindSpore", "ops.relu6(x)"),
        ("PyTorch", "functional.relu6(x)"),
    ]
    dead = evidence[GRADIENTS_AT_KINKS["dead"]]["torch-tape"]
    assert dead["branch"]["written"] == (
        "if x.sum() > 0: return torch.log(x); return torch.zeros_like(x)"
    )


def test_slopes_on_both_sides_are_difference_quotients_in_float64(evidence: Evidence) -> None:
    corners = evidence[SLOPES_AT_KINKS["corners"]]["torch"]
    assert close(corners["leaky_relu"], [[[0.1]], [[1.0]]])
    assert close(corners["hardswish"], [[[0.0, 1.5]], [[-0.5, 1.0]]], 1e-3)
    assert evidence[SLOPES_AT_KINKS["steep"]]["torch"]["sqrt"] == [[["NaN"]], [["Infinity"]]]


def test_every_difference_at_a_kink_is_a_finding_and_a_row(
    evidence: Evidence, telling: Telling
) -> None:
    rows = [row[0] for row in table_called("Kinks where the engines differ", telling).rows]
    kinks = measured_kinks(evidence)
    assert len(kinks) == 53
    for measured in kinks:
        where = measured.kink.where
        findings = [
            finding
            for finding in telling.findings
            if finding.startswith(f"{where}: the gradient is ")
        ]
        assert (where in rows) == measured.differs
        assert len(findings) == measured.differs


@pytest.mark.parametrize(("library", "kept"), [("mindspore", 0.3), ("torch", 0.7), ("keras", 0.7)])
def test_a_bare_number_is_what_dropout_keeps_in_mindspore_and_what_it_drops_elsewhere(
    evidence: Evidence, library: str, kept: float
) -> None:
    figures = evidence[DROPOUT_SETTINGS][library]
    assert figures["0.3 alone"]["kept"] == pytest.approx(kept, abs=0.02)


@pytest.mark.parametrize("engine", FOUR_ENGINES)
def test_gradient_of_dropout_has_the_mask_of_its_forward(evidence: Evidence, engine: str) -> None:
    figures = evidence[DROPOUT_MASK][engine]
    assert figures["output"] == figures["gradient"]
    assert {round(value, 5) for value in figures["output"]} == {0.0, round(1 / 0.7, 5)}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_mean_of_many_dropouts_is_what_went_in(evidence: Evidence, framework: str) -> None:
    ratios = evidence[DROPOUT_DRAWS][framework]["ratio"]
    assert ratios == pytest.approx([1.0] * 8, abs=0.12)


@pytest.mark.parametrize("engine", FOUR_ENGINES)
def test_batch_norm_in_training_uses_the_batch_and_moves_its_statistics(
    evidence: Evidence, engine: str
) -> None:
    states = evidence.records(BATCH_NORM_STATES, dict[str, BatchNormState])[engine]
    state = next(iter(states.values()))
    assert (statistics_used(state), statistics_moved(state)) == ("batch", "moved")


@pytest.mark.parametrize("momentum", MOMENTA)
def test_running_mean_after_one_step_follows_from_the_momentum(
    evidence: Evidence, momentum: float
) -> None:
    expected = (momentum * MEAN + (1 - momentum) * BATCH.mean(CHANNELS)).tolist()
    answers = evidence[BATCH_NORM_MOMENTUM]
    for figures in (answers["mindspore"], answers["torch"]["one_minus"], answers["keras"]):
        assert close(figures[str(momentum)][0], expected)


@pytest.mark.parametrize("party", [*FOUR_ENGINES, "keras"])
def test_max_pool_of_nine_padded_by_hand(evidence: Evidence, party: str) -> None:
    figures = evidence[MAX_POOL][party]
    assert figures["zeros top and left, then valid"] == [[0, 2], [6, 8]]
    assert figures["zeros bottom and right, then valid"] == [[4, 5], [7, 8]]
    has_same = PARTIES[party].library != "torch"
    assert (figures["same"] == [[4, 5], [7, 8]]) == has_same


@pytest.mark.parametrize("library", LIBRARIES)
def test_same_puts_the_odd_zero_after_and_valid_follows_the_formula(
    evidence: Evidence, library: str
) -> None:
    odd = odd_sides(evidence[CONVOLUTION_SIDES][library])
    assert odd.lie_after
    sizes = evidence[VALID_SIZES][library]
    assert list(sizes) == list(WINDOWS)
    for name, window in WINDOWS.items():
        assert set(sizes[name]) == {valid_size(window)}


@pytest.mark.parametrize(
    "part", ["convolution weight", "convolution bias", "dense weight", "dense bias"]
)
def test_initial_values_of_both_frameworks_are_uniform_and_keras_has_glorot_and_zeros(
    evidence: Evidence, part: str
) -> None:
    answers = evidence[INITIAL_VALUES]
    for framework in FRAMEWORKS:
        values = answers[framework][part]
        assert initial_values(values).distributions == [UNIFORM]
        assert max(-values["minimum"], values["maximum"]) <= values["bound"]
        assert values["std"] == pytest.approx(values["bound"] / math.sqrt(3), rel=0.1)
    in_keras = "zeros" if part.endswith("bias") else "Glorot uniform"
    assert initial_values(answers["keras"][part]).distributions == [in_keras]


@pytest.mark.parametrize(
    ("library", "layer_norm", "batch_norm"),
    [("mindspore", 1e-7, 1e-5), ("torch", 1e-5, 1e-5), ("keras", 1e-3, 1e-3)],
)
def test_epsilons_are_read_off_the_outputs(
    evidence: Evidence, library: str, layer_norm: float, batch_norm: float
) -> None:
    figures = evidence[EPSILONS][library]
    assert layer_norm_epsilon(figures["layer norm"]) == layer_norm
    assert batch_norm_epsilon(figures["batch norm of 1"]) == batch_norm


def test_gelu_without_a_word_is_the_tanh_one_in_mindspores_layer_only(evidence: Evidence) -> None:
    answers = evidence[GELU]
    formulas = {}
    for engine in FOUR_ENGINES:
        formulas[engine], _ = gelu_formula(answers[engine]["nn.GELU()"]["value"])
    assert by_answer(formulas, str) == [("MindSpore", "tanh"), ("PyTorch", "exact")]
    assert gelu_formula(answers["keras"]["activations.gelu"]["value"])[0] == "exact"


@pytest.mark.parametrize("engine", FOUR_ENGINES)
def test_cross_entropy_is_the_log_of_the_softmax_and_its_gradient_the_softmax_less_the_label(
    evidence: Evidence, engine: str
) -> None:
    softmax = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
    figures = evidence[CROSS_ENTROPY][engine]["nn.CrossEntropyLoss()"]
    assert figures["value"] == pytest.approx(-np.log(softmax[[0, 1], LABELS]).mean(), rel=1e-5)
    assert close(figures["gradient"], ((softmax - np.eye(3)[LABELS]) / 2).tolist())


CHEAP = (
    GRADIENTS_AT_KINKS["corners"].by("mindspore-tape"),
    GRADIENTS_AT_KINKS["dead"].by("torch-tape"),
    BATCH_NORM_MOMENTUM.by("mindspore"),
    DROPOUT_SETTINGS,
    DROPOUT_DRAWS,
    DROPOUT_MASK,
    INITIAL_VALUES,
    INFERENCE.by("mindspore-tape", "torch-tape"),
)
"""Questions that are answered fast enough to be asked twice."""


def test_cheap_measurements_give_the_same_figures_again(
    workers: Workers, measured: dict[str, Measured]
) -> None:
    again = [measurement for question in CHEAP for measurement in question.measurements(Target())]
    for name, outcome in measure(again, workers).items():
        assert outcome.figures == measured[name].figures, name


def test_dropout_draws_its_own_masks_after_a_net_that_was_given_some(
    workers: Workers, measured: dict[str, Measured]
) -> None:
    scenario = load(find("dropout"))
    assert scenario.shares_dropout
    report = explore(scenario, workers, graphs=False, selection="main")
    assert report.cases[0].verdict == "match"
    again = [*DROPOUT_SETTINGS.measurements(Target()), *DROPOUT_DRAWS.measurements(Target())]
    for name, outcome in measure(again, workers).items():
        assert outcome.figures == measured[name].figures, name


@pytest.mark.parametrize("question", [GRADIENTS_AT_KINKS["ties"], OPERATOR_GRADIENTS], ids=str)
def test_tensors_are_made_on_the_device_that_is_asked_for(
    workers: Workers, measured: dict[str, Measured], question: Question
) -> None:
    (measurement,) = question.by("torch-tape").measurements(Target(device="meta"))
    (without_values,) = measure([measurement], workers).values()
    messages = messages_in(without_values.figures)
    assert any("meta tensor" in text for text in messages), "a tensor without values has been read"
    named = msgspec.structs.replace(measurement, device="cpu:0")
    (outcome,) = measure([named], workers).values()
    assert outcome.figures == measured[measurement.name].figures


def messages_in(figure: Any) -> list[str]:
    """The messages of all attempts that raised."""
    if not isinstance(figure, dict):
        return []
    if "message" in figure:
        return [figure["message"]]
    messages = []
    for part in figure.values():
        messages.extend(messages_in(part))
    return messages


def test_code_that_was_run_is_shown_with_what_it_uses_of_its_own_module(
    measured: dict[str, Measured],
) -> None:
    code = measured[CONVOLUTION_SIDES.measurement_name("mindspore")].code
    assert "\n\n\ndef convolution_sides(ask: Ask) -> Found:" in code
    assert code.count("\n\n\ndef ") == code.count("\ndef ") == 2
    assert code.endswith(").figures)\n")
    assert 'pad_mode": "same"' in code
    net = measured[INFERENCE.measurement_name("torch-tape")].code
    assert "class Net(nn.Module):" in net


def test_the_figures_of_the_guides_are_told(telling: Telling) -> None:
    text = " ".join(telling.findings)
    assert "MindSpore and TensorFlow (Keras) [[4, 5], [7, 8]]" in text
    assert "MindSpore, PyTorch and TensorFlow (Keras) [[0, 2], [6, 8]]" in text
    assert "gives [4, 2, 3, 1]" in text
    assert {chart.name for chart in telling.charts} == {"kinks", "momentum", "initial_values"}


def test_a_library_that_is_absent_leaves_its_cells_empty_and_the_reason_in_the_note(
    measured: dict[str, Measured],
) -> None:
    absent = Measured(
        outcome="unsupported",
        error=Failure("MissingFramework", "No module named 'keras'; see doctor"),
    )
    telling = telling_text(TOPIC, Evidence(replaced(measured, ".keras", absent)))
    defaults = table_called("Defaults side by side", telling)
    assert {row[3] for row in defaults.rows} == {"-"}
    assert "TensorFlow (Keras): No module named 'keras'; see doctor." in defaults.note
    assert not any("Keras" in finding for finding in telling.findings)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_one_framework_alone_is_told_too(measured: dict[str, Measured], framework: str) -> None:
    lost = Measured(outcome="crashed", error=Failure("crashed", "the worker process died"))
    telling = telling_text(TOPIC, Evidence(replaced(measured, f".{framework}", lost)))
    defaults = table_called("Defaults side by side", telling)
    column = 1 + FRAMEWORKS.index(framework)
    assert {row[column] for row in defaults.rows} == {"-"}
    assert any(row[3 - column] != "-" for row in defaults.rows)
    assert "the worker process died" in defaults.note
    assert telling.findings


def replaced(
    measured: dict[str, Measured], part_of_name: str, outcome: Measured
) -> dict[str, Measured]:
    """The measurements with another outcome of those whose names have a part."""
    return {name: outcome if part_of_name in name else measured[name] for name in measured}


def test_what_is_told_can_be_read_whichever_measurement_fails(
    measured: dict[str, Measured],
) -> None:
    check_telling(telling_text(TOPIC, Evidence(measured)))
    check_every_failure(TOPIC, measured, Target())
