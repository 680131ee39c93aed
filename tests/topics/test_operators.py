"""What operators gave, as it is recorded: gradients at kinks and closed forms; and how they are asked."""

from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.operators.findings_kinks import measured_kinks
from explorer.topics.operators.inputs import LABELS, LOGITS
from explorer.topics.operators.questions import (
    CROSS_ENTROPY,
    DROPOUT_DRAWS,
    DROPOUT_SETTINGS,
    FOUR_ENGINES,
    GRADIENTS_AT_KINKS,
    OPERATOR_GRADIENTS,
    SLOPES_AT_KINKS,
    TOPIC,
)
from explorer.topics.operators.readings import (
    close,
)
from explorer.topics.question import Question, Target
from explorer.workers.workers import Workers
from tests.support.tellings import column, table_of, telling_text
from tests.support.topics import recorded, recorded_study


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
