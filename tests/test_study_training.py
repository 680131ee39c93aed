"""The study of training steps: every route leaves the same weights, and where rules, groups and
steps part it is told.
"""

import math

import numpy as np
import pytest

from explorer.model.measurement import Figures
from explorer.model.study import StudyRecord
from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.measuring import measure
from explorer.topics.training import (
    ACCUMULATION_MINDSPORE,
    ACCUMULATION_TORCH,
    CLIPPING_TORCH,
    DISPATCHES_TORCH,
    INDUCTOR,
    LOOP,
    NAMES_MINDSPORE,
    UPDATES_TORCH,
)
from explorer.topics.training.comparing import (
    NEAR,
    REFERENCE,
    added_up,
    apart,
    farthest,
    states,
    unlike,
    updates,
)
from explorer.topics.training.given import RATE, STEPS, WEIGHT, gradients
from explorer.topics.training.telling import tell
from explorer.workers.workers import Workers
from tests.study_runs import studied

UNANNOUNCED = "training.grad_operation_without_set_grad.mindspore-tape"


@pytest.fixture(scope="module")
def record(workers: Workers) -> StudyRecord:
    """One run of the study, but for inductor."""
    return studied("training", workers)


@pytest.fixture(scope="module")
def figures(record: StudyRecord) -> dict[str, Figures]:
    """The figures of that run by measurement."""
    return record.figures


@pytest.fixture(scope="module")
def evidence(record: StudyRecord) -> Evidence:
    """What that run measured."""
    return Evidence(record.measured)


def test_every_measurement_is_made(evidence: Evidence) -> None:
    assert evidence.failures == {}


def test_every_route_leaves_the_same_weights_and_statistics_after_each_step(
    evidence: Evidence,
) -> None:
    found = states(evidence)
    assert len(found) == 14
    for name, each in found.items():
        assert len(each) == STEPS
        if name != UNANNOUNCED:
            assert max(apart(each, found[REFERENCE])) <= NEAR, name


def test_the_steps_move_every_weight(evidence: Evidence) -> None:
    first, last = states(evidence)[REFERENCE][0], states(evidence)[REFERENCE][-1]
    assert all(
        first[name] != last[name]
        for name in ("conv.weight", "norm.weight", "norm.bias", "fc.weight", "norm.running_var")
    )


def test_a_hand_written_step_without_set_grad_runs_its_forward_twice_on_the_tape(
    evidence: Evidence,
) -> None:
    found = states(evidence)
    assert farthest(found[UNANNOUNCED], found[REFERENCE]) == "norm.running_var"
    once, twice = (
        np.array(found[name][0]["norm.running_var"]) for name in (REFERENCE, UNANNOUNCED)
    )
    of_batch = (once - 0.9) / 0.1
    np.testing.assert_allclose(twice, 0.9 * once + 0.1 * of_batch, rtol=1e-5)
    weights = [
        {name: value for name, value in each.items() if "running" not in name}
        for each in found[UNANNOUNCED]
    ]
    reference = [
        {name: value for name, value in each.items() if "running" not in name}
        for each in found[REFERENCE]
    ]
    assert max(apart(weights, reference)) <= NEAR


def test_sgd_and_adamw_follow_their_closed_forms(figures: dict[str, Figures]) -> None:
    sgd, decayed = WEIGHT.astype(float), WEIGHT.astype(float)
    first = second = np.zeros(3)
    for step, gradient in enumerate(gradients(), 1):
        sgd = sgd - RATE * gradient
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        decayed = decayed * (1 - RATE * 0.1)
        decayed = decayed - RATE * (first / (1 - 0.9**step)) / (
            np.sqrt(second / (1 - 0.999**step)) + 1e-8
        )
    for place in ("nn", "experimental", "torch"):
        np.testing.assert_allclose(figures[f"training.updates.{place}"]["SGD"][-1], sgd, rtol=1e-6)
    for place in ("experimental", "torch"):
        np.testing.assert_allclose(
            figures[f"training.updates.{place}"]["AdamW"][-1], decayed, rtol=1e-5
        )


def test_only_two_update_rules_of_mindspore_part_from_pytorchs(evidence: Evidence) -> None:
    parting = {
        (each.name, place)
        for each in updates(evidence)
        for place, off in each.apart.items()
        if off > NEAR
    }
    assert parting == {("AdamW", "nn"), ("RMSprop", "nn")}


def test_adam_weight_decay_leaves_out_the_correction_of_its_averages(
    figures: dict[str, Figures],
) -> None:
    gradient = gradients()[0].astype(float)
    uncorrected = WEIGHT * (1 - RATE * 0.1) - RATE * 0.1 * gradient / (
        np.sqrt(0.001 * gradient**2) + 1e-8
    )
    np.testing.assert_allclose(figures["training.updates.nn"]["AdamW"][0], uncorrected, rtol=1e-5)


def test_momentum_from_small_operators_is_the_fused_one(figures: dict[str, Figures]) -> None:
    moment, weight = np.zeros(3), WEIGHT.astype(float)
    for gradient in gradients():
        moment = 0.9 * moment + gradient
        weight = weight - RATE * moment
    paths = figures["training.momentum.mindspore"]
    assert set(paths) == {
        f"{how}, {style}"
        for how in ("small operators", "fused ApplyMomentum")
        for style in ("graph", "tape")
    }
    for path in paths.values():
        np.testing.assert_allclose(path[-1], weight, rtol=1e-6)


def test_weight_decay_spares_gamma_and_beta_in_nn_alone(figures: dict[str, Figures]) -> None:
    ours, theirs = (
        figures["training.weight_decay.mindspore"],
        figures["training.weight_decay.torch"],
    )
    assert ours["nn SGD"]["0.1"] == pytest.approx(
        {"fc.weight": 0.99, "fc.bias": 0.99, "norm.gamma": 1.0, "norm.beta": 1.0}
    )
    everything = {"fc.weight": 0.99, "fc.bias": 0.99, "norm.gamma": 0.99, "norm.beta": 0.99}
    assert ours["experimental SGD"]["0.1"] == pytest.approx(everything)
    assert theirs["torch SGD"]["0.1"] == pytest.approx(everything)
    assert theirs["torch AdamW"]["default"]["fc.weight"] == pytest.approx(1 - RATE * 0.01)


def test_a_groups_own_momentum_is_refused_by_nn_and_used_by_the_others(
    figures: dict[str, Figures],
) -> None:
    found = {**figures["training.groups.mindspore"], **figures["training.groups.torch"]}
    assert "must be one of in ['params', 'lr', 'weight_decay'" in found["nn"]["momentum"]["message"]
    for place in ("experimental", "torch"):
        assert found[place]["momentum"]["first"] == pytest.approx([1 - 0.1 - 0.19, 3 - 0.3 - 0.57])
        assert found[place]["momentum"]["second"] == pytest.approx([0.8, 2.4])


def test_gradients_of_narrow_rows_are_not_centralized_and_nothing_says_so(
    figures: dict[str, Figures],
) -> None:
    nn = figures["training.groups.mindspore"]["nn"]
    assert (
        nn["grad_centralization, rows of 2"]["first"]
        == nn["grad_centralization, rows of 2"]["second"]
    )
    assert "[Centralization] on CPU" in nn["grad_centralization, rows of 16"]["message"]


def test_a_step_after_add_param_group_works_in_pytorch_alone(figures: dict[str, Figures]) -> None:
    ours, theirs = (
        figures["training.add_param_group.mindspore"],
        figures["training.add_param_group.torch"],
    )
    assert theirs["torch"]["SGD"] == {"first": [pytest.approx(0.9)], "second": [pytest.approx(0.5)]}
    assert all(raised(each) for place in ours.values() for each in place.values())
    assert "same length" in ours["experimental"]["Adam"]["message"]


def test_clipping_scales_to_the_norm_and_leaves_smaller_gradients(
    figures: dict[str, Figures],
) -> None:
    ours, theirs = figures["training.clipping.mindspore"], figures[CLIPPING_TORCH.name]
    assert ours["default"] == 1.0
    assert math.hypot(*ours["by default"][0], *ours["by default"][1]) == pytest.approx(1)
    for norm, each in ours["by norm"].items():
        assert unlike(each, theirs["by norm"][norm]["gradients"]) < 1e-6
        assert math.hypot(*each[0], *each[1]) == pytest.approx(min(float(norm), 13))
    assert ours["by value"] == theirs["by value"] == [[3, 4], [5]]
    assert ours["given gradients afterwards"] == [[3, 4], [12]]


@pytest.mark.parametrize(
    "measured", [ACCUMULATION_MINDSPORE, ACCUMULATION_TORCH], ids=lambda each: each.kind
)
def test_micro_batches_add_up_divided_for_a_mean_and_as_they_are_for_a_sum(
    figures: dict[str, Figures], measured: object
) -> None:
    found = figures[measured.name]  # type: ignore[attr-defined]  # a Measurement
    assert added_up(found, "mean")["divided"] < 1e-6 < 1 < added_up(found, "mean")["added"]
    assert added_up(found, "sum")["added"] < 1e-6


def test_with_jit_a_step_is_one_graph_of_forward_backward_and_update(
    figures: dict[str, Figures],
) -> None:
    graphs = figures["training.graphs.mindspore"]
    (whole,) = graphs["ms.jit"]
    assert all(whole[part] for part in ("forward", "backward", "update"))
    assert [
        [part for part in ("forward", "backward", "update") if each[part]]
        for each in graphs["graph"]
    ] == [
        ["forward", "backward"],
        ["update"],
    ]
    dispatched = figures["training.dispatches.mindspore"]
    assert dispatched["ms.jit"] == []
    assert len(dispatched["forward"]) == 11


def test_a_compiled_step_of_pytorch_breaks_at_zero_grad_and_backward(
    figures: dict[str, Figures],
) -> None:
    found = figures["training.compiled.torch"]
    assert found["graphs"] == 2
    assert "Unsupported Tensor.backward() call" in found["breaks"]


def test_functional_gradients_refuse_statistics_that_they_capture(
    figures: dict[str, Figures],
) -> None:
    assert (
        "mutate a captured Tensor"
        in figures["training.functional.torch"]["statistics captured"]["message"]
    )


def test_inductor_without_a_compiler_is_an_outcome_with_its_own_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with Workers() as crew:
        found = measure((INDUCTOR,), crew)[INDUCTOR.name]
    assert found.outcome == "ok"
    assert raised(found.figures)
    assert "compiler" in found.figures["message"].lower()


def test_the_same_measurements_give_the_same_figures_again(
    record: StudyRecord, workers: Workers
) -> None:
    again = measure(
        (
            LOOP,
            UPDATES_TORCH,
            CLIPPING_TORCH,
            DISPATCHES_TORCH,
            ACCUMULATION_MINDSPORE,
            NAMES_MINDSPORE,
        ),
        workers,
    )
    assert {name: each.figures for name, each in again.items()} == {
        name: record.figures[name] for name in again
    }


def test_the_study_tells_what_parts_and_what_is_refused(record: StudyRecord) -> None:
    told = "\n".join(record.findings)
    assert (
        "12 of 13 ways to take a step leave the weights of PyTorch's zero_grad, backward, step after each of 5 steps"
        in told
    )
    assert "AdamW: nn AdamWeightDecay parts from torch.optim.AdamW by 0.8." in told
    assert "weight_decay=0.1 spares norm.gamma, norm.beta in nn SGD, nn Momentum, nn Adam." in told
    assert "Unsupported op [NPUGetFloatStatusV2] on CPU" in told
    assert {chart.name for chart in record.charts} == {
        "training-routes",
        "training-updates",
        "training-times",
    }
    assert [chart.name for chart in record.charts if chart.timing] == ["training-times"]


def test_what_was_not_measured_is_a_row_with_its_reason(evidence: Evidence) -> None:
    (routes,) = (
        table
        for table in tell(evidence).tables
        if table.title.startswith("Every way to take a step")
    )
    assert {row[1]: row[-1] for row in routes.rows}["torch.compile, inductor"] == "not measured"


def test_without_evidence_nothing_is_claimed() -> None:
    told = tell(Evidence({}))
    assert told.findings == ()
    assert told.charts == ()


@pytest.mark.parametrize("kept", ["torch", "mindspore"])
def test_with_one_framework_missing_the_other_is_told(evidence: Evidence, kept: str) -> None:
    told = tell(
        Evidence(
            {
                name: each
                for name, each in evidence.measured.items()
                if kept in name.rpartition(".")[2]
            }
        )
    )
    assert told.tables
    assert told.findings
