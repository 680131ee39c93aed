"""What the claims about optimizers and listings measure: closed forms, and what each side says."""

import math

import numpy as np
import pytest

from explorer.topics.attempts import raised
from explorer.topics.evidence import Evidence
from explorer.topics.training.inputs import OWN_MOMENTUM, RATE, STEPS, WEIGHT, gradients
from explorer.topics.training.questions import (
    EXPORTED_OPTIMIZERS,
    LISTED_FILTERS,
    LISTED_SHAPES,
    LOOKED_UP,
    LOSS_SCALE,
    PARAM_GROUPS,
    STATEFUL,
    THOR,
    TOPIC,
    UNMATCHED_UPDATES,
)
from explorer.workers.workers import Workers
from tests.support.topics import measured_for_claims

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

ROWS = (62, 64, 66, 67, 68, 69, 83)


@pytest.fixture(scope="module")
def evidence(workers: Workers) -> Evidence:
    """What these claims measure, without the rest of the study."""
    return Evidence(measured_for_claims(workers, [TOPIC.claims[row] for row in ROWS]))


def test_the_misprinted_name_is_the_only_one_that_is_not_there(evidence: Evidence) -> None:
    in_mindspore, in_torch = evidence[LOOKED_UP]["mindspore"], evidence[LOOKED_UP]["torch"]
    assert [name for name, figure in in_mindspore.items() if raised(figure)] == ["ProximalAadagrad"]
    assert in_torch == {"ASGD": "ASGD", "LBFGS": "LBFGS"}
    exported = evidence[EXPORTED_OPTIMIZERS]["mindspore"]
    assert {"ProximalAdagrad", "AdamOffload", "FTRL", "Lamb", "thor"} < set(exported["nn"])


def test_adam_on_the_host_and_proximal_adagrad_follow_their_closed_forms(
    evidence: Evidence,
) -> None:
    adam, adagrad = WEIGHT.astype(float), WEIGHT.astype(float)
    first = second = squares = np.zeros(3)
    for step, gradient in enumerate(gradients(), 1):
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        squares = squares + gradient**2
        corrected = (first / (1 - 0.9**step)) / np.sqrt(second / (1 - 0.999**step))
        adam = adam - RATE * corrected
        adagrad = adagrad - RATE * gradient / np.sqrt(squares)
    nn, torch = evidence[UNMATCHED_UPDATES]["nn"], evidence[UNMATCHED_UPDATES]["torch"]
    for path in (nn["AdamOffload"], torch["Adam"]):
        np.testing.assert_allclose(path[-1], adam, rtol=1e-5)
    for path in (nn["ProximalAdagrad"], torch["Adagrad"]):
        np.testing.assert_allclose(path[-1], adagrad, rtol=1e-5)


def test_every_optimizer_of_pytorch_is_tried_and_those_that_want_more_say_so(
    evidence: Evidence,
) -> None:
    updates = evidence[UNMATCHED_UPDATES]["torch"]
    assert set(updates) == set(evidence[EXPORTED_OPTIMIZERS]["torch"]["torch"])
    refusing = {name for name, figure in updates.items() if raised(figure)}
    assert refusing == {"LBFGS", "Muon", "Optimizer", "SparseAdam"}


def test_two_optimizers_have_no_kernel_here(evidence: Evidence) -> None:
    lamb, thor = evidence[UNMATCHED_UPDATES]["nn"]["Lamb"], evidence[THOR]["mindspore"]["step"]
    assert "Unsupported op [Lamb]" in lamb["message"]
    assert "Unsupported op [CholeskyTrsm]" in thor["message"]


def test_a_gradient_is_divided_by_the_loss_scale_and_the_decay_is_not(evidence: Evidence) -> None:
    nn = evidence[LOSS_SCALE]["nn"]
    assert nn["scaled"] == nn["divided by hand"] == pytest.approx(1 - RATE * 4 / 4)
    assert nn["whole"] == pytest.approx(1 - RATE * 4)
    assert nn["scaled, decayed"] == pytest.approx(1 - RATE * (4 / 4 + 0.1 * 1))
    for place in ("experimental", "torch"):
        assert "loss_scale" in evidence[LOSS_SCALE][place]["scaled"]["message"]


def test_the_call_that_is_printed_makes_the_base_class_alone(evidence: Evidence) -> None:
    for place in ("nn", "torch"):
        calls = evidence[LOSS_SCALE][place]["as printed"]
        assert calls["Optimizer"] == "Optimizer"
        assert raised(calls["SGD"])


def test_settings_of_groups_are_those_that_were_made(evidence: Evidence) -> None:
    for place in ("experimental", "torch"):
        first, second = evidence[PARAM_GROUPS][place]["groups"]
        assert first["lr"] == pytest.approx(0.5)
        assert second["lr"] == pytest.approx(RATE)
        assert first["momentum"] == second["momentum"] == OWN_MOMENTUM
        assert first["params"] == second["params"] == 1
    assert "no attribute 'param_groups'" in evidence[PARAM_GROUPS]["nn"]["groups"]["message"]


def test_each_listing_chooses_what_its_condition_says(evidence: Evidence) -> None:
    mindspore, torch = evidence[LISTED_FILTERS]["mindspore"], evidence[LISTED_FILTERS]["torch"]
    statistics = ["bn.moving_mean", "bn.moving_variance"]
    assert set(mindspore["as printed"]) == {*statistics, *mindspore["as meant"]}
    assert set(torch["as printed"]) == {"conv.weight", "conv.bias"}
    assert set(torch["as meant"]) == {"bn.weight", "bn.bias"}


def test_without_padding_a_convolution_takes_two_rows_and_columns_away(evidence: Evidence) -> None:
    mindspore, torch = evidence[LISTED_SHAPES]["mindspore"], evidence[LISTED_SHAPES]["torch"]
    padded, bare = [1, 64, 64, 32], [1, 64, 64 - 3 + 1, 32 - 3 + 1]
    assert mindspore["as printed"] == torch["padded as in MindSpore"] == padded
    assert torch["as printed"] == mindspore["padded as in PyTorch"] == bare
    assert raised(mindspore["with PyTorch's label"])
    assert raised(torch["with MindSpore's label"])


@pytest.mark.parametrize("party", ["mindspore-graph", "mindspore-tape"])
@pytest.mark.parametrize("way", ["by itself", "ms.jit"])
def test_momentum_moves_weight_and_state_by_its_closed_form(
    evidence: Evidence, party: str, way: str
) -> None:
    weight, moment, x = np.array([1.0, 2.0]), np.zeros(2), np.array([0.5, 1.5])
    losses = []
    for _ in range(STEPS):
        losses.append(math.fsum((weight * x - 1) ** 2))
        moment = OWN_MOMENTUM * moment + 2 * (weight * x - 1) * x
        weight = weight - RATE * moment
    figures = evidence[STATEFUL][party][way]
    np.testing.assert_allclose(figures["losses"], losses, rtol=1e-5)
    np.testing.assert_allclose(figures["weight"], weight, rtol=1e-5)
    np.testing.assert_allclose(figures["moments"], [moment], rtol=1e-5)
    assert figures["steps counted"] == [STEPS]


def test_a_step_under_jit_dispatches_nothing_by_itself(evidence: Evidence) -> None:
    tape, graph = evidence[STATEFUL]["mindspore-tape"], evidence[STATEFUL]["mindspore-graph"]
    assert tape["by itself"]["dispatched"] > 0
    assert tape["ms.jit"]["dispatched"] == 0
    assert "dispatched" not in graph["ms.jit"]
