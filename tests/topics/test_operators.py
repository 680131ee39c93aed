"""Operators: what they gave, as it is recorded; how they are asked; what is told where figures are known."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.failures import Failure
from explorer.model.measurement import Figures, Measured
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.operators.findings_defaults import ORDERS, PARTS
from explorer.topics.operators.findings_kinks import measured_kinks
from explorer.topics.operators.inputs import LABELS, LOGITS, OPERANDS, POINTS, WINDOWS
from explorer.topics.operators.questions import (
    CONVOLUTION_SIDES_OF_A_NUMBER,
    CROSS_ENTROPY,
    DROPOUT_DRAWS,
    DROPOUT_MASK,
    DROPOUT_SETTINGS,
    FOUR_ENGINES,
    GELU,
    GRADIENTS_AT_KINKS,
    INFERENCE,
    INITIAL_VALUES,
    OPERATOR_GRADIENTS,
    SLOPES_AT_KINKS,
    TOPIC,
    VALID_SIZES,
)
from explorer.topics.operators.readings import GLOROT, NORMAL, UNIFORM, close, gelu_formulas
from explorer.topics.question import Question, Target
from explorer.workers.workers import Workers
from tests.support.tellings import (
    Answers,
    chart_of,
    column,
    lines_of,
    rows_by_first,
    table_of,
    telling_text,
    told,
    told_after,
)
from tests.support.topics import copied, put, recorded, recorded_study


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return Evidence(recorded_study("operators"))


def test_slopes_on_both_sides_are_difference_quotients_in_float64(evidence: Evidence) -> None:
    corners = evidence[SLOPES_AT_KINKS["corners"]]["torch"]
    assert close(corners["leaky_relu"], [[[0.1]], [[1.0]]])
    assert close(corners["hardswish"], [[[0.0, 1.5]], [[-0.5, 1.0]]], 1e-3)
    assert evidence[SLOPES_AT_KINKS["steep"]]["torch"]["sqrt"] == [[["NaN"]], [["Infinity"]]]


def test_every_difference_at_a_kink_is_a_finding_and_a_row(evidence: Evidence) -> None:
    telling = telling_text(TOPIC, evidence)
    rows = column(table_of(telling, "outside the slopes"), "kink")
    kinks = measured_kinks(evidence)
    assert len(kinks) == 53
    for measured in kinks:
        where = measured.kink.where
        is_told = [f"{where}: the gradient is " in finding for finding in telling.findings]
        assert (where in rows) == measured.differs
        assert sum(is_told) == measured.differs


def test_without_keras_its_cells_are_empty_and_the_note_has_the_reason() -> None:
    reason = "No module named 'keras'; see doctor"
    absent = Measured(outcome="unsupported", error=Failure("MissingFramework", reason))
    measured = recorded_study("operators")
    lost = dict.fromkeys((name for name in measured if name.endswith(".keras")), absent)
    telling = telling_text(TOPIC, Evidence({**measured, **lost}))
    defaults = table_of(telling, "default")
    assert {row[3] for row in defaults.rows} == {"-"}
    assert f"TensorFlow (Keras): {reason}." in defaults.note
    assert not any("Keras" in finding for finding in telling.findings)


@pytest.mark.parametrize("engine", FOUR_ENGINES)
def test_cross_entropy_is_the_log_of_the_softmax_and_its_gradient_the_softmax_less_the_label(
    evidence: Evidence, engine: str
) -> None:
    softmax = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
    figures = evidence[CROSS_ENTROPY][engine]["nn.CrossEntropyLoss()"]
    assert figures["value"] == pytest.approx(-np.log(softmax[[0, 1], LABELS]).mean(), rel=1e-5)
    assert close(figures["gradient"], ((softmax - np.eye(3)[LABELS]) / 2).tolist())


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
def test_dropout_draws_its_own_masks_after_a_net_that_was_given_some(workers: Workers) -> None:
    scenario = load(find("dropout"))
    assert scenario.shares_dropout
    report = explore(scenario, workers, graphs=False, selection="main")
    assert report.cases[0].verdict == "match"
    again = [*DROPOUT_SETTINGS.measurements(Target()), *DROPOUT_DRAWS.measurements(Target())]
    for name, outcome in measure(again, workers).items():
        assert outcome.figures == recorded(again)[name].figures, name


@pytest.mark.torch
@pytest.mark.parametrize(
    "question",
    [GRADIENTS_AT_KINKS["ties"], pytest.param(OPERATOR_GRADIENTS, marks=pytest.mark.whole)],
    ids=str,
)
def test_tensors_are_made_on_the_device_that_is_asked_for(
    workers: Workers, question: Question
) -> None:
    (on_cpu,) = question.by("torch-tape").measurements(Target())
    on_meta = msgspec.structs.replace(on_cpu, name="on meta", device="meta")
    named = msgspec.structs.replace(on_cpu, name="named", device="cpu:0")
    outcomes = measure([on_cpu, on_meta, named], workers)
    messages = messages_in(outcomes["on meta"].figures)
    assert any("meta tensor" in text for text in messages), "a tensor without values has been read"
    assert outcomes["named"].figures == outcomes[on_cpu.name].figures


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


REFUSED = {"raised": "ValueError", "message": "no such thing"}

# Recorded figures after a change


def test_sizes_without_padding_are_held_against_the_formula() -> None:
    window = "size 5, kernel 2, stride 2"
    telling = told_after("operators", put(VALID_SIZES, ["torch"], window, 1, value=99))
    count = 3 * len(WINDOWS)
    said = f"MindSpore {count} of {count}, PyTorch {count - 1} of {count}, TensorFlow"
    assert any(said in finding for finding in telling.findings)
    (table,) = (table for table in telling.tables if table.title.startswith("Output size"))
    rows = rows_by_first(table)
    assert {WINDOWS[str(name)].size for name in rows} == {5, 8}
    assert rows[window] == (2, "[2, 2, 2]", "[2, 99, 2]", "[2, 2, 2]")


@pytest.mark.parametrize(
    ("engines", "said"),
    [
        (["torch-tape"], "in MindSpore and PyTorch graph, not in PyTorch tape."),
        (FOUR_ENGINES, "in no engine, not in MindSpore and PyTorch."),
    ],
)
def test_a_backward_without_its_forward_s_mask_is_told(engines: Sequence[str], said: str) -> None:
    telling = told_after("operators", put(DROPOUT_MASK, engines, "gradient", 0, value=9.0))
    assert any(finding.endswith(said) for finding in telling.findings)


@pytest.mark.parametrize(
    ("gradient", "outside"), [(1.0, "nobody"), (1.0005, "nobody"), (1.002, "PyTorch tape")]
)
def test_a_gradient_beyond_the_slopes_is_outside_them_up_to_rounding(
    gradient: float, outside: str
) -> None:
    found = {"value": 0.0, "gradient": [[gradient]]}
    at_relu = put(GRADIENTS_AT_KINKS["corners"], ["torch-tape"], "relu", "found", value=found)
    telling = told_after("operators", at_relu)
    (written, *cells) = rows_by_first(table_of(telling, "outside the slopes"))["relu at 0"]
    assert written == "ops.relu(x)"
    assert cells == ["0", "0", "0", f"{gradient:.4g}", "0", "1", outside]
    assert any("PyTorch's graph and tape differ at 2 of" in text for text in telling.findings)


def test_what_repeats_is_told_by_engine() -> None:
    changes = (
        put(INFERENCE, ["mindspore-tape"], "inference", 1, 0, 0, value=7.0),
        copied(INFERENCE, ["torch-tape"], "training", of="inference"),
    )
    telling = told_after("operators", *changes)
    table = table_of(telling, "inference repeats")
    engines = column(table, "engine")
    assert dict(zip(engines, column(table, "inference repeats"), strict=True)) == {
        **dict.fromkeys(engines, True),
        "MindSpore tape": False,
    }
    assert dict(zip(engines, column(table, "training repeats"), strict=True)) == {
        **dict.fromkeys(engines, False),
        "PyTorch tape": True,
    }
    said = " ".join(telling.findings)
    assert (
        "gives different outputs at every call in inference, 2e-07 from PyTorch tape, and" in said
    )
    assert "and the same ones in training (PyTorch tape)" in said


def test_gradients_with_equal_settings_are_held_against_the_reference() -> None:
    changes = (
        put(OPERATOR_GRADIENTS, ["mindspore-tape"], "dense", "first", 0, 0, 0, value=9.0),
        put(OPERATOR_GRADIENTS, ["torch-tape"], "transpose", "first", value=REFUSED),
    )
    telling = told_after("operators", *changes)
    (finding,) = (text for text in telling.findings if " first derivatives" in text)
    assert "44 of 45 first derivatives agree" in finding
    assert "but not those of dense (MindSpore tape)" in finding
    assert finding.endswith("there are none of transpose (PyTorch tape).")
    table = table_of(telling, "operator")
    rows = {row[:2]: row[2:] for row in table.rows}
    assert len(rows) == len(OPERANDS) * len(ORDERS)
    assert rows["dense", "first"][1] != "0"
    assert rows["transpose", "first"] == ("-", "-", "-", "ValueError: no such thing")


def test_a_window_of_another_version_is_called_as_it_is() -> None:
    uneven = put(CONVOLUTION_SIDES_OF_A_NUMBER, ["mindspore", "torch"], "uneven", value=[1, 0])
    telling = told_after("operators", uneven)
    assert any(text.endswith("uneven: 1 before, 0 after.") for text in telling.findings)


# Defaults and formulas

CANDIDATES = {"uniform": UNIFORM, "glorot": GLOROT, "normal": NORMAL}


def initial_values(**p_values: float) -> Figures:
    """Initial values of one library, the same for each parameter; candidates by their p-value."""
    candidates = {name: {"p": p_values.get(key, 0.0)} for key, name in CANDIDATES.items()}
    values = {"count": 8, "bound": 0.5, "minimum": -0.5, "maximum": 0.25, "std": 0.3, "zeros": 0}
    density = {"from": [-1.0, 0.0, 1.0], "of": [0.25, 0.75, 0.0]}
    of_each = {**values, "ks": candidates, "density": density}
    return {**dict.fromkeys(PARTS, of_each), "embedding std": 1.0}


def test_initial_values_are_told_by_the_distributions_that_they_may_come_from() -> None:
    answers = {"mindspore": initial_values(uniform=0.5, glorot=0.25), "torch": initial_values()}
    telling = told(TOPIC, {(INITIAL_VALUES, party): given for party, given in answers.items()})
    defaults = rows_by_first(table_of(telling, "default"))
    of_dense_biases = defaults["dense biases may be"]
    assert of_dense_biases == (f"{UNIFORM} or {GLOROT}", "none of the candidates", "-")
    lines = lines_of(chart_of(telling, "initial_values"))
    steps = {-1.0: 0.25, 0.0: 0.75, 1.0: 0.0}
    assert lines == {"MindSpore": steps, "PyTorch": steps}


def test_calls_are_told_by_style_only_where_the_styles_part() -> None:
    exact, tanh = (formula.tolist() for formula in gelu_formulas().values())
    loss = {"value": [0.25], "gradient": [0.5]}
    answers: Answers = {
        (GELU, "mindspore-graph"): {"ops.gelu": {"value": exact, "slope": exact}},
        (GELU, "mindspore-tape"): {"ops.gelu": {"value": tanh, "slope": exact}},
        (GELU, "keras"): {"gelu": REFUSED},
        (CROSS_ENTROPY, "mindspore-graph"): {"loss": loss, "other": REFUSED},
        (CROSS_ENTROPY, "mindspore-tape"): {"loss": loss, "other": {"value": [0.5]}},
    }
    telling = told(TOPIC, answers)
    at_minus_two = f"{exact[POINTS.tolist().index(-2)]:.4g}"
    assert table_of(telling, "formula").rows == (
        ("MindSpore", "ops.gelu", "exact; tanh", at_minus_two),
        ("TensorFlow (Keras)", "gelu", "ValueError: no such thing", "-"),
    )
    assert table_of(telling, "gradient").rows == (
        ("MindSpore", "loss", "[0.25]", "[0.5]"),
        ("MindSpore graph", "other", "ValueError: no such thing", "-"),
        ("MindSpore tape", "other", "[0.5]", "-"),
    )
