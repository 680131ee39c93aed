"""Single programs that measure, each asked alone, beside what is worked out by hand."""

from typing import Any

import numpy as np
import pytest

from explorer.topics.higher_order import wave
from explorer.topics.higher_order.operators import by_outcome
from explorer.topics.higher_order.questions import REFERENCE_OF_WAVE, SECOND_DERIVATIVES
from explorer.topics.loss_scale.questions import GUIDE_EXAMPLE
from explorer.topics.networks.questions import MODES
from explorer.topics.operators.inputs import BATCH, BETA, GAMMA, MEAN, VARIANCE
from explorer.topics.operators.questions import BATCH_NORM_STATES, DROPOUT_MASK
from explorer.topics.question import Question
from explorer.topics.schedules.questions import BY_HAND, GROUP_RATES, USED
from explorer.topics.stages.questions import BRANCH, LOOPS
from explorer.topics.tape_life.questions import ACCUMULATION, CUT_OFF, SECOND_BACKWARD
from explorer.topics.training.inputs import RATE
from explorer.topics.training.questions import (
    FUNCTIONAL,
    GRAPHS,
    LISTED_FILTERS,
    LOOP,
    LOSS_SCALE,
    STATEFUL,
)
from explorer.workers.workers import Workers
from tests.support.topics import looked_at, measured_once
from tests.support.worker_targets import Word


def figures(workers: Workers, question: Question, party: str) -> dict[str, Any]:
    """What one party answers to one question, asked about the topic's own scenario."""
    name = question.measurement_name(party)
    asked = question.by(party).measurements(looked_at(question.topic))
    outcome = measured_once(workers, asked)[name]
    assert outcome.outcome == "ok", outcome.error
    return outcome.figures


# PyTorch


@pytest.mark.torch
def test_a_gradient_adds_up_until_it_is_zeroed(workers: Workers) -> None:
    measured = figures(workers, ACCUMULATION, "torch-tape")
    assert measured[".grad after each backward"] == [[[2, 4, 6]], [[4, 8, 12]]]
    assert measured["zero_grad(set_to_none=False)"] == [[0, 0, 0]]
    assert measured["zero_grad()"] is None


@pytest.mark.torch
def test_the_second_backward_is_one_through_the_same_tape(workers: Workers) -> None:
    measured = figures(workers, SECOND_BACKWARD, "torch-tape")
    assert measured["plain"]["second"]["raised"] == "RuntimeError"
    assert measured["plain"][".grad"] == [[[2, 4, 6]], [[2, 4, 6]]]
    assert measured["retain_graph"][".grad"] == [[[2, 4, 6]], [[4, 8, 12]]]


@pytest.mark.torch
def test_two_ways_to_take_a_step_leave_the_same_weights(workers: Workers) -> None:
    loop, functional = figures(workers, LOOP, "torch"), figures(workers, FUNCTIONAL, "torch")
    np.testing.assert_allclose(loop["losses"], functional["losses"], 1e-5)
    assert len(loop["states"]) == len(loop["losses"])
    for state, other in zip(loop["states"], functional["states"], strict=True):
        for name, values in state.items():
            np.testing.assert_allclose(values, other[name], 1e-4, 1e-6)
    assert loop["states"][0] != loop["states"][-1]


@pytest.mark.torch
def test_a_rate_decays_by_a_tenth_from_the_second_update_on(workers: Workers) -> None:
    measured = figures(workers, USED, "torch")
    decayed = [0.1 * 0.9**step for step in range(5)]
    np.testing.assert_allclose(measured["SGD, stepped by hand"]["used"], decayed, 1e-6)
    np.testing.assert_allclose(measured["SGD, never stepped"]["used"], [0.1] * 5, 1e-6)
    by_hand = figures(workers, BY_HAND, "torch")["exponential"]
    np.testing.assert_allclose(by_hand, [0.1 * 0.9**step for step in range(len(by_hand))], 1e-6)


def normalised(mean: Any, variance: Any) -> Any:
    """Batch norm by its formula, with statistics a channel."""
    shape = (1, 2, 1, 1)
    spread = np.sqrt(np.reshape(variance, shape) + 1e-5)
    centred = (BATCH - np.reshape(mean, shape)) / spread
    return centred * GAMMA.reshape(shape) + BETA.reshape(shape)


@pytest.mark.torch
def test_batch_norm_takes_the_batch_in_training_and_what_it_tracked_at_inference(
    workers: Workers,
) -> None:
    measured = figures(workers, BATCH_NORM_STATES, "torch-tape")
    axes = (0, 2, 3)
    by_batch = normalised(BATCH.mean(axes), BATCH.var(axes))
    by_running = normalised(MEAN, VARIANCE)
    for state, expected in (
        ("track_running_stats=True, training", by_batch),
        ("track_running_stats=True, inference", by_running),
        ("track_running_stats=False, training", by_batch),
        ("track_running_stats=False, inference", by_batch),
    ):
        np.testing.assert_allclose(measured[state]["output"], expected, 1e-4, 1e-5)


@pytest.mark.torch
def test_the_gradient_of_dropout_on_ones_is_its_output(workers: Workers) -> None:
    measured = figures(workers, DROPOUT_MASK, "torch-tape")
    assert measured["gradient"] == measured["output"]
    assert len(set(measured["gradient"])) == 2


@pytest.mark.torch
def test_a_batch_norm_remembers_the_batch_in_training_alone(workers: Workers) -> None:
    measured = figures(workers, MODES, "torch")
    # Of 1, 3, 5 and 2, -2, 6 the means are 3 and 2; a tenth of them is remembered.
    np.testing.assert_allclose(measured["training"]["running_mean"], [0.3, 0.2], 1e-6)
    assert measured["inference"]["running_mean"] == [0, 0]
    assert measured["inference"]["dropout_zeros"] == 0


@pytest.mark.torch
def test_the_reference_of_the_wave_is_as_exact_as_float64(workers: Workers) -> None:
    by_order = figures(workers, REFERENCE_OF_WAVE, "torch")["by input"]["x"]
    for order, figure in by_order.items():
        np.testing.assert_allclose(figure["elements"], [wave.derivative(int(order))], 1e-12)


@pytest.mark.torch
def test_a_second_derivative_is_how_the_first_changes(workers: Workers) -> None:
    measured = figures(workers, SECOND_DERIVATIVES["by shape"], "torch-tape")
    assert by_outcome(measured)["wrong"] == []
    # Σx cubed: 6 · Σx · n along ones, which is not its first derivative.
    cube = measured["cube_of_sum"]
    np.testing.assert_allclose(cube["second"], cube["change of first"], 1e-3)


@pytest.mark.torch
def test_each_listing_chooses_what_its_condition_says(workers: Workers) -> None:
    chosen = figures(workers, LISTED_FILTERS, "torch")
    assert set(chosen["as printed"]) == {"conv.weight", "conv.bias"}
    assert set(chosen["as meant"]) == {"bn.weight", "bn.bias"}


# MindSpore

STYLES = ("mindspore-graph", "mindspore-tape")


@pytest.mark.mindspore
@pytest.mark.parametrize("style", STYLES)
def test_the_guide_s_loss_is_scaled_before_its_gradient(workers: Workers, style: str) -> None:
    measured = figures(workers, GUIDE_EXAMPLE, style)
    assert measured["scaled"] == {"loss": 1024, "gradient": [[2048, 4096, 6144]]}
    assert measured["unscaled"] == {"loss": 1, "gradient": [[2, 4, 6]]}


@pytest.mark.mindspore
@pytest.mark.parametrize("style", STYLES)
def test_what_is_cut_off_is_a_constant_factor(workers: Workers, style: str) -> None:
    measured = figures(workers, CUT_OFF, style)
    # x³ at 0, 1, 2 has the derivative 3x²; with x² held it is x².
    assert measured["plain"] == [0, 3, 12]
    assert measured["stop_gradient"] == [0, 1, 4]


@pytest.mark.mindspore
def test_a_step_under_jit_is_one_graph_with_all_its_parts(workers: Workers) -> None:
    measured = figures(workers, GRAPHS, "mindspore")
    (whole,) = measured["ms.jit"]
    assert min(whole["forward"], whole["backward"], whole["update"]) > 0
    both, update = measured["graph"]
    assert (both["forward"], both["backward"]) == (whole["forward"], whole["backward"])
    assert update["update"] == whole["update"]


@pytest.mark.mindspore
def test_each_length_of_a_loop_has_the_gradient_of_its_power(workers: Workers) -> None:
    measured = figures(workers, LOOPS, "mindspore-graph")["while"]
    # x · wⁿ, with x of 1 and 2, and w of a half and 2: wⁿ, and n · x · wⁿ⁻¹.
    for length, figure in measured.items():
        n = int(length)
        by_x, by_w = figure["gradient"]
        np.testing.assert_allclose(by_x, [0.5**n, 2.0**n])
        np.testing.assert_allclose(by_w, [n * 0.5 ** (n - 1), 2 * n * 2.0 ** (n - 1)])


@pytest.mark.mindspore
def test_negative_inputs_take_the_other_branch(workers: Workers) -> None:
    measured = figures(workers, BRANCH, "mindspore-graph")
    plain, negative = measured["inputs times 1"], measured["inputs times -1"]
    assert plain["gradient"] != negative["gradient"]
    assert plain["fingerprint"] == negative["fingerprint"]


@pytest.mark.mindspore
def test_a_step_under_jit_dispatches_nothing_by_itself(workers: Workers) -> None:
    tape = figures(workers, STATEFUL, "mindspore-tape")
    assert tape["by itself"]["dispatched"] > 0
    assert tape["ms.jit"]["dispatched"] == 0


@pytest.mark.mindspore
def test_a_gradient_is_divided_by_the_loss_scale_and_the_decay_is_not(workers: Workers) -> None:
    nn = figures(workers, LOSS_SCALE, "nn")
    assert nn["scaled"] == nn["divided by hand"] == pytest.approx(1 - RATE * 4 / 4)
    assert nn["whole"] == pytest.approx(1 - RATE * 4)
    assert nn["scaled, decayed"] == pytest.approx(1 - RATE * (4 / 4 + 0.1 * 1))


@pytest.mark.mindspore
def test_rates_of_groups_are_told_by_parameter_or_by_group(workers: Workers) -> None:
    told = figures(workers, GROUP_RATES, "mindspore")
    by_kind = told["get_lr_parameter"]
    assert by_kind["number"][0]["rates"] == pytest.approx(0.1)
    assert by_kind["list"][0]["rates"] == pytest.approx([0.1, 0.09, 0.081])
    assert by_kind["Cell"] == [{"kind": "Cell"}]
    for rates in told["get_lr"].values():
        assert rates == pytest.approx([0.09, 0.01], abs=1e-6)
    assert told["param_groups"]["experimental"] == pytest.approx([0.1, 0.01])


@pytest.mark.torch
def test_guards_of_an_operator_in_graph_style_are_not_timed_and_others_are(
    workers: Workers,
) -> None:
    asked = workers.call("torch", "tests.support.worker_targets:guards_timed", Word(""), Word)
    assert asked == Word("[2.0, 2.0] 1")
