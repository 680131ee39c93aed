"""What is read off the operators' figures, on figures that are known: rules, words, kinks."""

import math
from types import ModuleType

import numpy as np
import pytest

from explorer.topics.operators.inputs import BATCH, MEAN, PAIRS, VARIANCE, WINDOWS, Window
from explorer.topics.operators.kink_functions import KINKS
from explorer.topics.operators.kinks import GROUPS, kinks_of_group, load_kinks, written
from explorer.topics.operators.readings import (
    CHANNELS,
    BatchNormState,
    OddSides,
    batch_norm_epsilon,
    close,
    farthest,
    gelu_formula,
    gelu_formulas,
    implied_momentum,
    odd_sides,
    relative_difference,
    reproducible,
    statistics_moved,
    statistics_used,
    survival,
    valid_size,
    variance_kind,
    zeros_around,
)
from explorer.topics.operators.wording import by_answer, joint_label, short
from explorer.words.messages import text


def test_differences_are_relative_above_one_and_infinite_beside_nan() -> None:
    assert relative_difference([1.0, "NaN"], [1.0, 2.0]) == math.inf
    assert relative_difference([200.0], [201.0]) == pytest.approx(0.005)
    assert relative_difference([0.5], [0.25]) == 0.25
    assert farthest([[1.0], [2.0]], [[1.0], [3.0]]) == 0.5
    assert farthest([], []) == 0.0


@pytest.mark.parametrize(("planted", "same"), [(0.9e-5, True), (1.1e-5, False)])
def test_numbers_are_close_up_to_rounding(planted: float, same: bool) -> None:
    assert close([1.0], [1.0 + planted]) == same


def test_outputs_repeat_to_the_last_bit_or_not_at_all() -> None:
    assert reproducible([[1.0], [1.0]])
    assert not reproducible([[1.0], [1.0], [1.0 + 1e-15]])


def test_survivors_of_dropout_are_counted() -> None:
    training = np.array([0.0, 2.0, 2.0, 2.0])
    assert survival(training, np.ones(4)) == {
        "kept": 0.75,
        "survivor": 2.0,
        "inference_is_identity": True,
    }
    assert not survival(training, training)["inference_is_identity"]


def test_statistics_of_batch_norm_are_told_from_its_output() -> None:
    assert statistics_used(BatchNormState(output=np.zeros((4, 2, 2, 2)).tolist())) == "neither"
    assert statistics_moved(BatchNormState(running=[None, None])) == "none"
    assert statistics_moved(BatchNormState(running=[MEAN.tolist(), VARIANCE.tolist()])) == "kept"
    assert (
        statistics_moved(BatchNormState(running=[VARIANCE.tolist(), VARIANCE.tolist()])) == "moved"
    )


def test_variance_of_the_batch_is_told_from_the_one_that_replaced_the_running_one() -> None:
    for kind, degrees_lost in (("unbiased", 1), ("biased", 0)):
        variance = BATCH.var(CHANNELS, ddof=degrees_lost).tolist()
        assert variance_kind({"0.0": [[], variance]}) == kind
    assert variance_kind({"0.0": [[], [9.0, 9.0]]}) == "neither"


@pytest.mark.parametrize("momentum", [0.0, 0.25, 0.9, 1.0])
def test_momentum_is_told_from_one_step(momentum: float) -> None:
    running = momentum * MEAN + (1 - momentum) * BATCH.mean(CHANNELS)
    assert implied_momentum([running.tolist()]) == pytest.approx(momentum, abs=1e-4)


@pytest.mark.parametrize("epsilon", [1e-3, 1e-5, 1e-7])
def test_epsilon_is_told_from_the_output_of_batch_norm(epsilon: float) -> None:
    assert batch_norm_epsilon(1 / math.sqrt(epsilon)) == epsilon


def test_zeros_around_an_axis_are_read_off_the_first_elements_of_windows() -> None:
    after = np.array([1, 2, 3, 4, 5])
    assert zeros_around(after, Window(size=5, kernel=2, stride=1)) == [0, 1]
    before = np.array([0, 1, 2, 3, 4])
    assert zeros_around(before, Window(size=5, kernel=2, stride=1)) == [1, 0]
    none = np.array([1, 3])
    assert zeros_around(none, Window(size=5, kernel=2, stride=2)) == [0, 0]


def test_windows_fit_their_axis_and_pairs_are_two_wide() -> None:
    assert len(WINDOWS) == 69
    assert list(PAIRS) == [f"size {size}, kernel 2, stride 2" for size in range(3, 9)]
    for name, window in WINDOWS.items():
        assert window.name == name
        assert valid_size(window) == len(range(0, window.size - window.kernel + 1, window.stride))


def test_odd_zeros_are_sorted_by_side() -> None:
    figures = {"a": [1, 0], "b": [1, 1], "c": {"raised": "E", "message": ""}, "d": [0, 1]}
    assert odd_sides(figures) == OddSides(before=("a",), after=("d",), refused=("c",))


def test_formula_of_gelu_is_told_from_its_values() -> None:
    formulas = gelu_formulas()
    apart = float(np.abs(formulas["exact"] - formulas["tanh"]).max())
    for name, values in formulas.items():
        assert gelu_formula(values.tolist()) == (name, apart)


def test_both_styles_of_a_framework_are_the_framework() -> None:
    engines = ["torch-tape", "keras", "mindspore-graph", "mindspore-tape"]
    assert text(joint_label(engines)) == "MindSpore, PyTorch tape and TensorFlow (Keras)"
    figures = {"mindspore": [0.0, -0.0], "torch": "NaN", "keras": [0, 0]}
    assert [(text(who), what) for who, what in by_answer(figures)] == [
        ("MindSpore and TensorFlow (Keras)", "[0, 0]"),
        ("PyTorch", "NaN"),
    ]
    assert [text(short(figure)) for figure in (True, None)] == ["yes", "none"]
    assert short(["-Infinity", 0.12345]) == "[-∞, 0.1235]"


def test_kinks_stand_in_groups_and_each_has_its_own_words() -> None:
    assert [kinks_of_group(KINKS, group)[0].name for group in GROUPS] == [
        "relu",
        "maximum",
        "sqrt",
        "where_log",
    ]
    assert len({kink.where for kink in KINKS.values()}) == len(KINKS) == 53
    for name, kink in KINKS.items():
        assert (kink.name, kink.function.__name__) == (name, name)
        assert kink.inputs


def library(name: str, says: str) -> ModuleType:
    """A module with a relu that says from which library it is."""
    module = ModuleType(name)
    vars(module)["relu"] = lambda x: f"{says} {x}"
    return module


def test_kink_functions_are_bound_to_one_library_each_and_shown_as_it_has_them() -> None:
    one = load_kinks("one", ops=library("one.tensors", "one"), functional=library("one.nn", "nn"))
    two = load_kinks("two", ops=library("two", "two"), functional=library("two.nn", "nn"))
    assert list(one) == list(two) == list(KINKS)
    assert (one["relu"].function(1), two["relu"].function(1)) == ("one 1", "two 1")
    assert written(one["relu"].function) == "tensors.relu(x)"
    assert written(two["where_sqrt"].function) == "two.where(x > 0, two.sqrt(x), 0.0)"
    assert written(two["relu6"].function) == "nn.relu6(x)"
    assert written(two["branch"].function) == (
        "if x.sum() > 0: return two.log(x); return two.zeros_like(x)"
    )
