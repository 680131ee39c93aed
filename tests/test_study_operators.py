"""The study of operators: figures of the guides, closed forms, the same figures again, and what it
tells without evidence.
"""

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.topics.evidence import Evidence
from explorer.topics.measuring import measure
from explorer.topics.operators import STUDY, asked
from explorer.topics.operators.data import BATCH, LABELS, LOGITS, MEAN, MOMENTA, POINTS, VARIANCE
from explorer.topics.operators.facts import (
    close,
    epsilon,
    fits,
    gelu_formula,
    implied_momentum,
    odd_sides,
    off,
    statistics_moved,
    statistics_used,
    valid_size,
    variance_epsilon,
    variance_kind,
)
from explorer.topics.operators.kinks import KINKS, Kink
from explorer.topics.operators.shown import alike, short, together
from explorer.topics.operators.telling_kinks import gradient
from explorer.topics.question import Target
from explorer.topics.studying import Telling
from explorer.workers.workers import Workers
from tests.measured_once import once


@pytest.fixture(scope="module")
def evidence(workers: Workers) -> Evidence:
    """What was measured."""
    return Evidence(once(workers, STUDY.measurements(Target("", "cpu"))))


@pytest.fixture(scope="module")
def telling(evidence: Evidence) -> Telling:
    """What the study makes of it."""
    return STUDY.tell(evidence)


def kink(name: str) -> Kink:
    return next(each for each in KINKS if each.name == name)


def at(evidence: Evidence, name: str) -> dict[str, Any]:
    return {
        who: evidence[asked.KINKS[who, kink(name).group].name][name]["found"]
        for who in asked.ENGINES
    }


def test_everything_is_measured(evidence: Evidence) -> None:
    assert evidence.failures == {}


@pytest.mark.parametrize(
    ("function", "ours", "theirs"),
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
    evidence: Evidence, function: str, ours: str, theirs: str
) -> None:
    found = {who: gradient(each) for who, each in at(evidence, function).items()}
    expected = {"mindspore": ours, "torch": theirs}
    assert found == {who: expected[who.partition("-")[0]] for who in asked.ENGINES}


def test_a_branch_on_a_value_is_no_graph_in_pytorch_and_zero_in_mindspore(
    evidence: Evidence,
) -> None:
    found = at(evidence, "branch")
    assert found["torch-graph"] == {"raised": "Unsupported", "message": "Data-dependent branching"}
    assert found["torch-tape"]["raised"] == "RuntimeError"
    assert {gradient(found[who]) for who in asked.ENGINES if who.startswith("mindspore")} == {"0"}


def test_slopes_on_both_sides_are_difference_quotients_in_float64(evidence: Evidence) -> None:
    corners = evidence[asked.SLOPES["corners"].name]
    assert close(corners["leaky_relu"], [[[0.1]], [[1.0]]])
    assert close(corners["hardswish"], [[[0.0, 1.5]], [[-0.5, 1.0]]], 1e-3)
    assert evidence[asked.SLOPES["steep"].name]["sqrt"] == [[["NaN"]], [["Infinity"]]]


def test_every_difference_at_a_kink_is_a_finding_and_a_row(
    evidence: Evidence, telling: Telling
) -> None:
    table = next(each for each in telling.tables if each.title == "Kinks where the engines differ")
    rows = [row[0] for row in table.rows]
    for each in KINKS:
        answers = alike(
            at(evidence, each.name), lambda found: short(found.get("value")) + gradient(found)
        )
        assert (each.where in rows) == (len(answers) > 1), each.name
        assert any(
            finding.startswith(f"{each.where}: gradient") for finding in telling.findings
        ) == (each.where in rows)


def test_a_bare_number_is_what_dropout_keeps_in_mindspore_and_what_it_drops_elsewhere(
    evidence: Evidence,
) -> None:
    kept = {
        who: evidence[each.name]["0.3 alone"]["kept"]
        for who, each in asked.DROPOUT_SETTINGS.items()
    }
    assert kept["mindspore"] == pytest.approx(0.3, abs=0.02)
    assert kept["torch"] == pytest.approx(0.7, abs=0.02)
    assert kept["keras"] == pytest.approx(0.7, abs=0.02)


@pytest.mark.parametrize("who", asked.ENGINES)
def test_gradient_of_dropout_has_the_mask_of_its_forward(evidence: Evidence, who: str) -> None:
    figures = evidence[asked.DROPOUT_MASK[who].name]
    assert figures["output"] == figures["gradient"]
    assert {round(value, 5) for value in figures["output"]} == {0.0, round(1 / 0.7, 5)}


@pytest.mark.parametrize("who", asked.FRAMEWORKS)
def test_mean_of_many_dropouts_is_what_went_in(evidence: Evidence, who: str) -> None:
    assert evidence[asked.DROPOUT_DRAWS[who].name]["ratio"] == pytest.approx([1.0] * 8, abs=0.12)


@pytest.mark.parametrize("who", asked.ENGINES)
def test_batch_norm_in_training_uses_the_batch_and_moves_its_statistics(
    evidence: Evidence, who: str
) -> None:
    state = next(iter(evidence[asked.BATCH_NORM[who].name].values()))
    assert (statistics_used(state), statistics_moved(state)) == ("batch", "moved")


def test_running_mean_after_one_step_follows_from_the_momentum(evidence: Evidence) -> None:
    batch = BATCH.mean((0, 2, 3))
    for momentum in MOMENTA:
        expected = (momentum * MEAN + (1 - momentum) * batch).tolist()
        assert close(evidence[asked.MOMENTUM["mindspore"].name][str(momentum)][0], expected)
        assert close(
            evidence[asked.MOMENTUM["torch"].name]["one_minus"][str(momentum)][0], expected
        )
        assert close(evidence[asked.MOMENTUM["keras"].name][str(momentum)][0], expected)


@pytest.mark.parametrize("who", [*asked.ENGINES, "keras"])
def test_max_pool_of_nine_padded_by_hand(evidence: Evidence, who: str) -> None:
    figures = evidence[asked.POOL[who].name]
    assert figures["zeros top and left, then valid"] == [[0, 2], [6, 8]]
    assert figures["zeros bottom and right, then valid"] == [[4, 5], [7, 8]]
    assert (figures["same"] == [[4, 5], [7, 8]]) == (not who.startswith("torch"))


@pytest.mark.parametrize("who", asked.THREE)
def test_same_puts_the_odd_zero_after_and_valid_follows_the_formula(
    evidence: Evidence, who: str
) -> None:
    odd = odd_sides(evidence[asked.SIDES[who].name])
    assert odd["after"]
    assert not odd["before"]
    assert all(
        set(sizes) == {valid_size(case)} for case, sizes in evidence[asked.VALID[who].name].items()
    )


@pytest.mark.parametrize(
    "part", ["convolution weight", "convolution bias", "dense weight", "dense bias"]
)
def test_initial_values_of_both_frameworks_are_uniform_and_keras_has_glorot_and_zeros(
    evidence: Evidence, part: str
) -> None:
    found = {who: evidence[each.name][part] for who, each in asked.INITIAL.items()}
    for who in asked.FRAMEWORKS:
        assert fits(found[who]) == ["U(-sqrt k, sqrt k)"]
        assert max(-found[who]["minimum"], found[who]["maximum"]) <= found[who]["bound"]
        assert found[who]["std"] == pytest.approx(found[who]["bound"] / math.sqrt(3), rel=0.1)
    assert fits(found["keras"]) == (["zeros"] if part.endswith("bias") else ["Glorot uniform"])


def test_epsilons_are_read_off_the_outputs(evidence: Evidence) -> None:
    found = {who: evidence[each.name] for who, each in asked.EPSILON.items()}
    assert {who: epsilon(each["layer norm"]) for who, each in found.items()} == {
        "mindspore": 1e-7,
        "torch": 1e-5,
        "keras": 1e-3,
    }
    norms = {who: variance_epsilon(each["batch norm of 1"]) for who, each in found.items()}
    assert norms == {"mindspore": 1e-5, "torch": 1e-5, "keras": 1e-3}


def test_gelu_without_a_word_is_the_tanh_one_in_mindspores_layer_only(evidence: Evidence) -> None:
    layers = {who: evidence[asked.GELU[who].name]["nn.GELU()"]["value"] for who in asked.ENGINES}
    kinds = {who: gelu_formula(value, POINTS)[0] for who, value in layers.items()}
    assert alike(kinds, str) == {"MindSpore": "tanh", "PyTorch": "exact"}
    assert (
        gelu_formula(evidence[asked.GELU["keras"].name]["activations.gelu"]["value"], POINTS)[0]
        == "exact"
    )


@pytest.mark.parametrize("who", asked.ENGINES)
def test_cross_entropy_is_the_log_of_the_softmax_and_its_gradient_the_softmax_less_the_label(
    evidence: Evidence, who: str
) -> None:
    soft = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
    figures = evidence[asked.CROSS_ENTROPY[who].name]["nn.CrossEntropyLoss()"]
    assert figures["value"] == pytest.approx(-np.log(soft[[0, 1], LABELS]).mean(), rel=1e-5)
    assert close(figures["gradient"], ((soft - np.eye(3)[LABELS]) / 2).tolist())


def test_cheap_measurements_give_the_same_figures_again(
    workers: Workers, evidence: Evidence
) -> None:
    again = [
        asked.KINKS["mindspore-tape", "corners"],
        asked.KINKS["torch-tape", "dead"],
        asked.MOMENTUM["mindspore"],
    ]
    again += [
        *asked.DROPOUT_SETTINGS.values(),
        *asked.DROPOUT_DRAWS.values(),
        *asked.DROPOUT_MASK.values(),
    ]
    again += [
        *asked.INITIAL.values(),
        asked.INFERENCE["mindspore-tape"],
        asked.INFERENCE["torch-tape"],
    ]
    for name, each in measure(again, workers).items():
        assert each.figures == evidence[name], name


def test_tensors_are_made_on_the_device_that_is_asked_for(
    workers: Workers, evidence: Evidence
) -> None:
    for each in (asked.KINKS["torch-tape", "ties"], asked.GRADIENTS["torch-tape"]):
        there = msgspec.structs.replace(each, device="meta")
        (found,) = measure([there], workers).values()
        told = [text for figure in found.figures.values() for text in _messages(figure)]
        assert any("meta tensor" in text for text in told), "a tensor without values has been read"
        (again,) = measure([msgspec.structs.replace(each, device="cpu:0")], workers).values()
        assert again.figures == evidence[each.name]


def _messages(figure: Any) -> list[str]:
    if isinstance(figure, dict):
        return (
            [figure["message"]]
            if "message" in figure
            else [text for each in figure.values() for text in _messages(each)]
        )
    return []


def test_code_that_was_run_is_shown_with_what_it_uses_of_its_own_module(evidence: Evidence) -> None:
    code = evidence.measured[asked.SIDES["mindspore"].name].code
    assert code.startswith("def convolution_sides(ask: Ask) -> Found:")
    assert code.count("\n\n\ndef ") == code.count("\ndef ") == 1
    assert 'pad_mode": "same"' in code
    assert "class Net(nn.Module):" in evidence.measured[asked.INFERENCE["torch-tape"].name].code


def test_the_figures_of_the_guides_are_told(telling: Telling) -> None:
    told = " ".join(telling.findings)
    assert "MindSpore and TensorFlow (Keras) [[4, 5], [7, 8]]" in told
    assert "MindSpore and PyTorch and TensorFlow (Keras) [[0, 2], [6, 8]]" in told
    assert "gives [4, 2, 3, 1]" in told
    assert {chart.name for chart in telling.charts} == {"kinks", "momentum", "initial_values"}


def test_without_evidence_there_is_nothing_to_tell() -> None:
    told = STUDY.tell(Evidence({}))
    assert told.findings == ()
    assert told.charts == ()


def test_a_framework_that_is_absent_leaves_its_cells_empty_and_the_reason_in_the_note(
    workers: Workers,
) -> None:
    gone = Measured(
        outcome="unsupported",
        error=Failure("MissingFramework", "No module named 'keras'; see doctor"),
    )
    measured = {
        name: gone if ".keras" in name else each
        for name, each in once(workers, STUDY.measurements(Target("", "cpu"))).items()
    }
    told = STUDY.tell(Evidence(measured))
    defaults = next(table for table in told.tables if table.title == "Defaults side by side")
    assert {row[3] for row in defaults.rows} == {"-"}
    assert "TensorFlow (Keras): No module named 'keras'; see doctor." in defaults.note
    assert not any("Keras" in finding for finding in told.findings)


def test_one_framework_alone_is_told_too(workers: Workers) -> None:
    gone = Measured(outcome="crashed", error=Failure("crashed", "the worker process died"))
    for framework in asked.FRAMEWORKS:
        measured = {
            name: gone if f".{framework}" in name else each
            for name, each in once(workers, STUDY.measurements(Target("", "cpu"))).items()
        }
        assert STUDY.tell(Evidence(measured)).findings


def test_rules_tell_wrong_figures_from_right_ones() -> None:
    assert off([1.0, "NaN"], [1.0, 2.0]) == math.inf
    assert off([200.0], [201.0]) == pytest.approx(0.005)
    assert statistics_used({"output": np.zeros((4, 2, 2, 2)).tolist()}) == "neither"
    assert statistics_moved({"running": [None, None]}) == "none"
    assert statistics_moved({"running": [MEAN.tolist(), VARIANCE.tolist()]}) == "kept"
    assert implied_momentum([MEAN.tolist()]) == 1.0
    assert variance_kind({"0.0": [[], [9.0, 9.0]]}) == "neither"
    assert odd_sides({"a": [1, 0], "b": [1, 1], "c": {"raised": "E", "message": ""}}) == {
        "before": ["a"],
        "after": [],
        "refused": ["c"],
    }
    assert (
        together(["torch-tape", "keras", "mindspore-graph", "mindspore-tape"])
        == "MindSpore and PyTorch tape and TensorFlow (Keras)"
    )
