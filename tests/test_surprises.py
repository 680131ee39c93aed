"""The surprises of the documentation: what their reproducers show, against closed forms."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.report import Report
from explorer.numeric.differences import Floats
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.command_line import ROOT
from tests.support.scenario_reports import FLOAT32, MINDSPORE, TORCH

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

FOLDER = ROOT / "docs" / "surprises"

FILES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py"))}

PROGRAMS = [name for name, source in FILES.items() if "def main()" in source]
"""The files that print; the others are scenarios."""

ROUNDED = 1e-4
"""Half a unit of the last figure that a program prints is below this, absolute and relative."""

STYLES = ("tape", "graph")

SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772
"""λ and α of SELU (Klambauer et al., Self-Normalizing Neural Networks, 2017)."""

NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[-+−]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|nan|inf)(?![A-Za-z0-9_])"
)

RUN_ALL = """
import contextlib, importlib, io, json, sys
sys.path.insert(0, sys.argv[1])
printed = {}
for name in sys.argv[2:]:
    with contextlib.redirect_stdout(io.StringIO()) as output:
        importlib.import_module(name).main()
    printed[name] = output.getvalue()
print(json.dumps(printed))
"""
"""One process for all programs: importing both frameworks takes longer than most of them."""

Printed = dict[str, dict[str, str]]
"""By program, what stands behind the label of each line."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN_ALL, str(FOLDER), *PROGRAMS],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd=tmp_path_factory.mktemp("surprises"),
        env={**os.environ, "GLOG_v": "4", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    text: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return text


@pytest.fixture(scope="module")
def printed(outputs: dict[str, str]) -> Printed:
    return {name: labelled(text) for name, text in outputs.items()}


def labelled(text: str) -> dict[str, str]:
    lines = [line.partition(": ") for line in text.splitlines()]
    by_label = {label: rest for label, _, rest in lines}
    assert len(by_label) == len(lines), "a label stands twice"
    return by_label


def numbers(text: str) -> list[float]:
    """The numbers of a text, with a typographic minus too."""
    return [float(number.replace("−", "-")) for number in NUMBER.findall(text)]


def assert_says(text: str, *right: float) -> None:
    """A line's numbers are these, to the figures that it prints."""
    found = numbers(text)
    assert len(found) == len(right), text
    np.testing.assert_allclose(found, right, rtol=ROUNDED, atol=ROUNDED)


def test_a_number_is_read_with_its_sign_and_no_part_of_a_name() -> None:
    assert numbers("[-1.5 2. 3e-07 −4] Int64 x2 float16") == [-1.5, 2.0, 3e-07, -4.0]
    assert np.isnan(numbers("[nan nan]")).all()


# Wrong without a message


def test_the_second_derivative_of_a_sum_is_zero_on_the_tape_alone(printed: Printed) -> None:
    lines = printed["nested_sum"]
    x = np.array([1.0, 2.0])
    right = [6 * x.sum() * x.size] * 2
    assert_says(lines["MindSpore, tape"], 0, 0)
    for engine in ("MindSpore, tape, under ms.jit", "MindSpore, graph", "PyTorch"):
        assert_says(lines[engine], *right)


def test_a_hessian_through_a_matrix_vector_product_is_wrong(printed: Printed) -> None:
    lines = printed["hessian_of_product"]
    a, x = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.1, 0.2])
    y = np.tanh(a @ x)
    right = a.T @ np.diag(-2 * y * (1 - y**2)) @ a
    assert_says(lines["PyTorch"], *right.ravel())
    for style in STYLES:
        assert_says(lines[f"MindSpore, {style}, x as a column"], *right.ravel())
        forward = np.reshape(numbers(lines[f"MindSpore, {style}, jacfwd"]), (2, 2))
        reverse = np.reshape(numbers(lines[f"MindSpore, {style}, jacrev"]), (2, 2))
        np.testing.assert_array_equal(forward, reverse.T)
        assert np.abs(forward - right).max() > 1
        assert abs(forward[0, 1] - forward[1, 0]) > 1
    # The advice: no check of symmetry finds it where A is symmetric.
    a = np.array([[1.0, 2.0], [2.0, 1.0]])
    y = np.tanh(a @ x)
    right = a.T @ np.diag(-2 * y * (1 - y**2)) @ a
    assert_says(lines["PyTorch, symmetric A"], *right.ravel())
    for style in STYLES:
        wrong = np.reshape(numbers(lines[f"MindSpore, {style}, jacfwd, symmetric A"]), (2, 2))
        np.testing.assert_array_equal(wrong, wrong.T)
        assert np.abs(wrong - right).max() > 0.1


def test_in_place_updates_of_a_saved_result_spoil_the_graph_s_gradient(printed: Printed) -> None:
    lines = printed["in_place_exp"]
    right = np.exp([0.0, 1.0, 2.0])
    # On the tape the update is lost: its gradient is right of another function.
    assert_says(lines["MindSpore, tape, value"], right.sum())
    assert_says(lines["MindSpore, tape, gradient"], *right)
    assert_says(lines["MindSpore, graph, value"], right.sum() + 3)
    assert_says(lines["MindSpore, graph, gradient"], *right + 1)
    for style in STYLES:
        assert_says(lines[f"MindSpore, {style}, y = y + 1, value"], right.sum() + 3)
        assert_says(lines[f"MindSpore, {style}, y = y + 1, gradient"], *right)
    assert lines["PyTorch"].startswith("RuntimeError")


def test_in_place_methods_change_nothing_on_the_tape_of_the_cpu(printed: Printed) -> None:
    lines = printed["in_place_nothing"]
    x = np.array([1.0, 2.0])
    returned = {"add_(1)": x + 1, "sub_(1)": x - 1, "mul_(2)": x * 2, "div_(2)": x / 2}
    for call, changed in returned.items():
        assert_says(lines[f"MindSpore, tape, {call} returns"], *changed)
        assert_says(lines[f"MindSpore, tape, x after {call}"], *x)
        assert_says(lines[f"PyTorch, x after {call}"], *changed)
    assert_says(lines["MindSpore, tape, the sum of exp(x).mul_(2)"], np.exp(x).sum())
    assert_says(lines["MindSpore, tape, its gradient"], *np.exp(x))
    assert_says(lines["MindSpore, tape, y = y * 2"], *2 * np.exp(x))
    assert_says(lines["MindSpore, graph, y after add_(1)"], *x + 1)
    after_a_step = x - 0.5 * 1.0
    assert_says(lines["MindSpore, tape, mint.optim.SGD"], *x)
    assert_says(lines["MindSpore, tape, mint.optim.Adam"], *x)
    assert_says(lines["MindSpore, tape, experimental.optim.SGD"], *after_a_step)
    assert_says(lines["MindSpore, graph, mint.optim.SGD"], *after_a_step)


def test_the_second_derivative_of_a_product(printed: Printed) -> None:
    lines = printed["product_second"]
    right = {"1, 2, 3": (2 + 3, 1 + 3, 1 + 2), "0, 2, 3": (2 + 3, 0 + 3, 0 + 2)}
    for at, sums in right.items():
        assert_says(lines[f"PyTorch at {at}"], *sums)
        for style in STYLES:
            assert_says(lines[f"MindSpore, {style}, a * b * c at {at}"], *sums)
        assert lines[f"MindSpore, graph, prod(x) at {at}"].startswith("RuntimeError")
        along_an_axis = np.array(numbers(lines[f"MindSpore, tape, prod(x, 1) at {at}"]))
        assert np.abs(along_an_axis - sums).max() > 1
    for call in ("prod(x)", "prod(x, 1)"):
        assert_says(lines[f"MindSpore, tape, {call} at 0, 2, 3"], 0, 0, 0)
    assert_says(lines["MindSpore, graph, prod(x, 1) at 1, 2, 3"], *right["1, 2, 3"])
    assert np.isnan(numbers(lines["MindSpore, graph, prod(x, 1) at 0, 2, 3"])[0])


def test_a_compiled_gradient_stays_in_its_first_mode(printed: Printed) -> None:
    lines = printed["training_mode"]
    x, epsilon = np.array([1.0, 2.0, 6.0]), 1e-5
    evaluation = 3 * x**2 / (1 + epsilon) ** 1.5
    deviation = np.sqrt(x.var() + epsilon)
    y = (x - x.mean()) / deviation
    slope = 3 * y**2
    training = (slope - slope.mean() - y * (slope * y).mean()) / deviation
    for engine in ("MindSpore, tape", "MindSpore, graph", "PyTorch"):
        assert_says(lines[f"{engine}, evaluation"], *evaluation)
    for right in ("MindSpore, tape, training", "PyTorch, training"):
        assert_says(lines[right], *training)
    for style in STYLES:
        assert_says(lines[f"MindSpore, {style}, training, ms.grad again"], *training)
    assert_says(lines["MindSpore, graph, training"], *evaluation)


def test_a_compiled_gradient_holds_what_it_took_from_python(printed: Printed) -> None:
    lines = printed["captured_values"]
    for style, gradient, drawn in (("tape", 5, 5), ("graph", 2, 1)):
        assert_says(lines[f"{style}, scale 2, gradient"], 2)
        assert_says(lines[f"{style}, scale 5, value"], 5)
        assert_says(lines[f"{style}, scale 5, gradient"], gradient)
        assert_says(lines[f"{style}, numbers drawn in five calls"], drawn)


def test_what_was_compiled_for_a_gradient_function_is_kept(printed: Printed) -> None:
    lines = printed["kept_nets"]
    kept = {name for name, said in lines.items() if said == "5 of 5 nets are left"}
    freed = {name for name, said in lines.items() if said == "0 of 5 nets are left"}
    assert kept | freed == set(lines)
    unpacked = "MindSpore, graph, in a Cell, (*inputs, *options)"
    train_step = "MindSpore, graph, TrainOneStepCell"
    assert kept == {"MindSpore, graph, ms.grad(net)(x)", unpacked, train_step}


def test_a_write_to_a_slice_reaches_the_original_on_tapes_alone(printed: Printed) -> None:
    lines = printed["slice_write"]
    shared, apart = np.array([1.0, 9.0, 3.0]), np.array([1.0, 2.0, 3.0])
    for tape in ("MindSpore, tape", "PyTorch"):
        # The element that was overwritten no longer depends on x.
        assert_says(lines[tape], (shared**2).sum(), *2 * shared * [1, 0, 1])
    assert_says(lines["MindSpore, graph"], (apart**2).sum(), *2 * apart)


def test_a_write_through_a_view_is_lost_under_a_gradient(printed: Printed) -> None:
    lines = printed["view_write"]
    x = np.arange(1.0, 5.0)
    written = np.where(np.arange(4) == 1, 9.0, x)
    slopes = 2 * written * [1, 0, 1, 1]
    lost = ((x**2).sum(), *2 * x)
    seen = ((written**2).sum(), *slopes)
    for name in (".view()", ".T", "h[0]", "no view"):
        assert_says(lines[f"MindSpore, tape, {name}, called"], seen[0])
        assert_says(lines[f"PyTorch, {name}"], *seen)
        in_graph = seen if name == "no view" else lost
        on_tape = lost if name in {".view()", ".T"} else seen
        assert_says(lines[f"MindSpore, graph, {name}, differentiated"], *in_graph)
        assert_says(lines[f"MindSpore, tape, {name}, differentiated"], *on_tape)


def test_softmax_of_a_masked_row_goes_by_type_and_axis(printed: Printed) -> None:
    lines = printed["masked_row"]
    for style in STYLES:
        assert_says(lines[f"MindSpore, {style}, float32, last axis"], *[0] * 6)
        for otherwise in ("float32, first axis", "float64, last axis"):
            assert np.isnan(numbers(lines[f"MindSpore, {style}, {otherwise}"])).all()
        guarded = lines[f"MindSpore, {style}, float32, at least -1e30"]
        assert_says(guarded, *[1 / 3] * 3, 0, 0, 0)
    for dtype in ("torch.float32", "torch.float64"):
        assert np.isnan(numbers(lines[f"PyTorch, {dtype}, last axis"])).all()


def test_minimum_and_maximum_return_their_second_argument_beside_nan(printed: Printed) -> None:
    lines = printed["nan_minimum"]
    for name in ("minimum", "maximum"):
        for style in STYLES:
            assert_says(lines[f"MindSpore, {style}, {name}(nan, 2)"], 2)
            assert np.isnan(numbers(lines[f"MindSpore, {style}, {name}(2, nan)"])).all()
        for order in ("nan, 2", "2, nan"):
            assert np.isnan(numbers(lines[f"PyTorch, {name}({order})"])).all()
    for style in STYLES:
        assert np.isnan(numbers(lines[f"MindSpore, {style}, guarded"])).all()


def test_the_sum_of_nothing_is_not_zero(printed: Printed) -> None:
    lines = printed["empty_mean"]
    for style in STYLES:
        assert lines[f"MindSpore, {style}, every mean is nan"] == "False"
        assert lines[f"MindSpore, {style}, every sum is 0"] == "False"
        assert_says(lines[f"MindSpore, {style}, guarded"], 0)
    assert lines["PyTorch"] == "0.0 nan"


def test_the_power_zero_of_zero_has_the_gradient_nan_in_mindspore(printed: Printed) -> None:
    lines = printed["power_of_zero"]
    for style in STYLES:
        *values, at_zero, elsewhere = numbers(lines[f"MindSpore, {style}, x**0"])
        assert values == [1, 1]
        assert np.isnan(at_zero)
        assert elsewhere == 0
        assert_says(lines[f"MindSpore, {style}, x**0 where x is not 0"], 1, 1, 0, 0)
    assert_says(lines["PyTorch, x**0"], 1, 1, 0, 0)


def test_create_graph_changes_the_gradient_of_a_product_to_nan(printed: Printed) -> None:
    lines = printed["product_create_graph"]
    assert_says(lines["PyTorch"], 0, 0, 0, 0)
    in_single = numbers(lines["PyTorch, create_graph=True"])
    assert np.isnan(in_single).tolist() == [False, False, True, False]
    assert_says(lines["PyTorch, create_graph=True, float64"], 0, 0, 0, 0)


def test_the_compiled_multilabel_loss_takes_padding_for_labels(printed: Printed) -> None:
    lines = printed["compiled_multilabel"]
    scores = np.array([0.1, 0.2, 0.4, 0.8])
    # Label 1 is right; the others should be a margin of 1 below it.
    margins = 1 - (scores[1] - np.delete(scores, 1))
    right = (margins.sum() / 4, 1 / 4, -3 / 4, 1 / 4, 1 / 4)
    assert (margins > 0).all()
    for way in ("tape", "written out", "written out, compiled"):
        assert_says(lines[f"PyTorch, {way}"], *right)
    assert abs(numbers(lines["PyTorch, compiled"])[0] - right[0]) > 1


def test_forward_mode_differentiates_through_no_grad(printed: Printed) -> None:
    lines = printed["forward_mode_no_grad"]
    constant, differentiated = 3 * 2, 6 * 2
    assert_says(lines["PyTorch, no_grad, jacrev"], constant)
    assert_says(lines["PyTorch, no_grad, jacfwd"], differentiated)
    for mode in ("jacrev", "jacfwd"):
        assert_says(lines[f"PyTorch, detach, {mode}"], constant)


def test_a_saved_intermediate_is_a_constant_to_second_derivatives(printed: Printed) -> None:
    lines = printed["custom_saved"]
    first, second = 3 * 2**2, 9 * 2**2
    assert_says(lines["PyTorch, saves x * x"], first, first)
    for right in ("saves x", "returns x * x too"):
        assert_says(lines[f"PyTorch, {right}"], first, second)


def test_an_overwritten_value_has_a_gradient(printed: Printed) -> None:
    lines = printed["repeated_scatter"]
    for who in ("MindSpore, tape", "MindSpore, graph", "PyTorch"):
        assert_says(lines[f"{who}, gradient"], 3, 3)
        assert_says(lines[f"{who}, later alone"], 0, 3)
    assert_says(lines["differences"], 0, 3)


def test_the_gradient_by_integers_is_cast_to_integers(printed: Printed) -> None:
    lines = printed["integer_input"]
    for style in STYLES:
        whole = lines[f"MindSpore, {style}, Tensor([1, 2, 3])"]
        assert_says(whole, 0, 0, 0)
        assert whole.endswith("Int64")
        assert_says(lines[f"MindSpore, {style}, Tensor([1.0, 2.0, 3.0])"], 0.5, 0.5, 0.5)
    assert lines["PyTorch"].startswith("RuntimeError")


def test_a_number_beside_float64_has_single_precision_in_mindspore(printed: Printed) -> None:
    lines = printed["double_precision"]
    single = float(np.float32(0.1))
    assert single != 0.1
    for style in STYLES:
        assert lines[f"MindSpore, {style}, x * 0.1"] == f"{single:.17f} {single:.17f} Float64"
        assert lines[f"MindSpore, {style}, x * 0.125"] == f"{0.125:.17f} {0.125:.17f} Float64"
    assert lines["PyTorch, x * 0.1"] == f"{0.1:.17f} {0.1:.17f} torch.float64"


def test_small_numbers_lose_their_digits_in_mindspore(printed: Printed) -> None:
    lines = printed["lost_digits"]
    right = {
        "log1p(1e-06)": np.log1p(1e-6),
        "expm1(1e-06)": np.expm1(1e-6),
        "logsigmoid(18)": -np.log1p(np.exp(-18.0)),
    }
    for call, value in right.items():
        assert numbers(lines[f"PyTorch, {call}"])[0] == pytest.approx(value, rel=1e-5)
        for style in STYLES:
            # Whatever it is, it is not far from what single precision leaves of 1 + x.
            wrong = numbers(lines[f"MindSpore, {style}, {call}"])[0]
            assert abs(wrong - value) <= np.finfo(np.float32).eps
            assert abs(wrong - value) > 0.04 * abs(value)
            otherwise = numbers(lines[f"MindSpore, {style}, {call} otherwise"])
            assert otherwise[0] == pytest.approx(value, rel=2e-5)
            assert otherwise[-1] < 2e-5
    # The last number of a line is how far the gradient is off.
    for style in STYLES:
        off = {call: numbers(lines[f"MindSpore, {style}, {call}"])[-1] for call in right}
        assert off == pytest.approx({**dict.fromkeys(right, 0), "logsigmoid(18)": 1}, abs=1e-6)


def test_equal_elements_have_unequal_values_in_mindspore(printed: Printed) -> None:
    lines = printed["unequal_outputs"]
    right = {
        "softplus(-14)": np.log1p(np.exp(-14.0)),
        "logsigmoid(14)": -np.log1p(np.exp(-14.0)),
        "elu(-1e-05)": np.expm1(-1e-5),
    }
    for call, value in right.items():
        assert_nine_times(lines[f"PyTorch, {call}"], value)
        for style in STYLES:
            assert_nine_times(lines[f"MindSpore, {style}, {call} otherwise"], value)
            one, first, many, second = numbers(lines[f"MindSpore, {style}, {call}"])
            assert one + many == 9
            assert abs(first - second) > 1e-3 * abs(value)


def assert_nine_times(text: str, right: float) -> None:
    """All nine elements are one number, to the figures that are printed."""
    count, value = numbers(text)
    assert count == 9
    assert value == pytest.approx(right, rel=ROUNDED)


def test_operators_of_float64_have_the_digits_of_float32_in_mindspore(printed: Printed) -> None:
    lines = printed["single_precision_inside"]
    names = [label.partition(", ")[2] for label in lines if label.startswith("PyTorch")]
    assert "sort" in names
    for name in names:
        assert lines[f"MindSpore, {name}"].startswith("float64, off by ")
        assert lines[f"PyTorch, {name}"].startswith("torch.float64, off by ")
        assert 1e-9 < float(lines[f"MindSpore, {name}"].split()[-1]) < 1e-5
        assert float(lines[f"PyTorch, {name}"].split()[-1]) < 1e-15


def test_tapes_add_both_uses_of_one_tensor_and_graphs_do_not(printed: Printed) -> None:
    lines = printed["same_tensor_twice"]
    x = np.array([1.0, 2.0, 3.0])
    assert_says(lines["MindSpore, tape, product(x, x)"], *2 * x)
    assert_says(lines["PyTorch, torch.autograd.grad"], *2 * x)
    assert_says(lines["MindSpore, graph, product(x, x)"], *x)
    assert_says(lines["PyTorch, torch.func.grad"], *x)
    assert_says(lines["PyTorch, torch.compile"], *2 * x)
    assert_says(lines["PyTorch, torch.autograd.grad, x.clone()"], *2 * x)
    assert_says(lines["PyTorch, torch.autograd.grad, x.detach().clone()"], *x)
    for style in STYLES:
        assert_says(lines[f"MindSpore, {style}, product(x, copy)"], *x)


def test_hooks_for_saved_tensors_switch_pytorch_s_check_off(printed: Printed) -> None:
    lines = printed["saved_on_cpu"]
    right = np.exp([0.0, 1.0, 2.0])
    assert lines["plain"].startswith("RuntimeError")
    assert_says(lines["under save_on_cpu"], *right + 1)
    assert_says(lines["right"], *right)


def test_a_backward_that_fails_has_added_a_part(printed: Printed) -> None:
    lines = printed["second_backward"]
    assert_says(lines["after the first backward"], 1, np.exp(0))
    assert lines["the second"].startswith("RuntimeError")
    assert_says(lines["after the second backward"], 2, np.exp(0))


# Training


def test_weight_decay_spares_by_name(printed: Printed) -> None:
    lines = printed["decay_by_name"]
    decayed = 1 - 0.1 * 0.1
    assert_says(lines["MindSpore, weight"], decayed)
    assert_says(lines["PyTorch, beta"], decayed)
    for name in ("beta", "beta_net.weight"):
        assert_says(lines[f"MindSpore, {name}"], 1)
        assert_says(lines[f"MindSpore, {name}, in a group"], decayed)


def test_what_is_not_used_decays_in_mindspore_alone(printed: Printed) -> None:
    lines = printed["unused_parameter"]
    for style in STYLES:
        assert_says(lines[f"MindSpore, {style}, gradient of idle"], 0)
        assert_says(lines[f"MindSpore, {style}, idle after a step"], 1 - 0.1 * 0.1)
        assert_says(lines[f"MindSpore, {style}, momentum, used once"], 1 - 0.1)
        moved = 1 - 0.1 - 0.1 * 0.9
        assert_says(lines[f"MindSpore, {style}, momentum, not used then"], moved)
    assert lines["PyTorch, gradient of idle"] == "None"
    assert_says(lines["PyTorch, idle after a step"], 1)


@pytest.mark.parametrize("gradient", [1.0, 1e-7])
def test_adam_s_first_step_by_where_epsilon_and_correction_stand(
    printed: Printed, gradient: float
) -> None:
    lines = printed["first_steps"]
    rate, beta1, root = 0.1, 0.9, np.sqrt(1 - 0.999)

    def said(name: str) -> str:
        return lines[f"{name}, gradient {gradient:g}"]

    corrected_after = rate * gradient / (gradient + 1e-8)
    assert_says(said("PyTorch, Adam"), corrected_after)
    assert_says(said("PyTorch, AdamW"), corrected_after)
    assert_says(said("MindSpore, nn.Adam"), rate * root * gradient / (root * gradient + 1e-8))
    uncorrected = rate * (1 - beta1) * gradient / (root * gradient + 1e-6)
    assert_says(said("MindSpore, nn.AdamWeightDecay"), uncorrected)


def test_rmsprop_and_adagrad_start_from_other_sums(printed: Printed) -> None:
    lines = printed["rmsprop_start"]
    rate, gradient = 0.1, 0.1
    from_one = rate * gradient / np.sqrt(0.9 + 0.1 * gradient**2)
    from_zero = rate * gradient / np.sqrt(0.01 * gradient**2)
    assert_says(lines["MindSpore, RMSProp"], from_one)
    assert_says(lines["MindSpore, RMSProp from 0, decay 0.99"], from_zero)
    assert_says(lines["PyTorch, RMSprop"], from_zero)
    assert_says(lines["MindSpore, Adagrad"], rate * gradient / np.sqrt(0.1 + gradient**2))
    assert_says(lines["MindSpore, Adagrad, accum 0"], rate)
    assert_says(lines["PyTorch, Adagrad"], rate)


def test_unscaling_in_float16_gives_zero(printed: Printed) -> None:
    lines = printed["unscale_float16"]
    # A float16 has 11 bits, and here three decimals are printed.
    assert float(lines["scaled"]) == pytest.approx(1e-8 * 65536, rel=1e-3)
    assert float(lines["MindSpore, unscaled in float16"]) == 0
    assert float(lines["MindSpore, cast to float32 first"]) == pytest.approx(1e-8, rel=1e-2)
    assert lines["PyTorch"].startswith("ValueError")


# Layers and losses


def windows(picture: Floats) -> list[float]:
    """The sums of 3×3 windows, two apart."""
    rows, columns = picture.shape
    return [
        float(picture[row : row + 3, column : column + 3].sum())
        for row in range(0, rows - 2, 2)
        for column in range(0, columns - 2, 2)
    ]


def test_same_padding_with_a_stride_is_no_padding_of_one(printed: Printed) -> None:
    lines = printed["strided_padding"]
    picture = np.arange(16.0).reshape(4, 4)
    assert_says(lines["MindSpore, default (same)"], *windows(np.pad(picture, (0, 1))))
    for padded in ('MindSpore, pad_mode="pad", padding=1', "PyTorch, padding=1"):
        assert_says(lines[padded], *windows(np.pad(picture, 1)))
    assert lines['PyTorch, padding="same"'].startswith("ValueError")


def test_layer_norm_s_epsilon_decides_small_rows(printed: Printed) -> None:
    lines = printed["layer_norm_epsilon"]
    row = np.array([0.001, 0.002, 0.003])

    def normalised(epsilon: float) -> Floats:
        scaled: Floats = (row - row.mean()) / np.sqrt(row.var() + epsilon)
        return scaled

    assert float(lines["MindSpore, epsilon by default"]) == 1e-7
    assert float(lines["PyTorch, eps by default"]) == 1e-5
    assert_says(lines["MindSpore"], *normalised(1e-7))
    assert_says(lines["MindSpore, epsilon=1e-5"], *normalised(1e-5))
    assert_says(lines["PyTorch"], *normalised(1e-5))


def test_embeddings_start_from_other_deviations(printed: Printed) -> None:
    lines = printed["embedding_start"]
    # The deviation of 64,000 normal numbers is known to 0.3 %; one line shows four decimals of 0.01.
    assert float(lines["MindSpore"]) == pytest.approx(0.01, rel=0.015)
    assert float(lines["MindSpore, Normal(1.0)"]) == pytest.approx(1, rel=0.015)
    assert float(lines["PyTorch"]) == pytest.approx(1, rel=0.015)


def test_the_row_of_padding_is_trained_in_mindspore(printed: Printed) -> None:
    lines = printed["padding_index"]
    for framework in ("MindSpore", "PyTorch"):
        assert_says(lines[f"{framework}, initial row 0"], 0, 0)
    for style in STYLES:
        assert_says(lines[f"MindSpore, {style}, gradient of row 0"], 2, 2)
        assert_says(lines[f"MindSpore, {style}, gradient of row 0, masked"], 0, 0)
    assert_says(lines["PyTorch, gradient of row 0"], 0, 0)


def test_rrelu_draws_in_evaluation_in_mindspore(printed: Printed) -> None:
    lines = printed["rrelu_evaluation"]
    mean = -(1 / 8 + 1 / 3) / 2
    for style in STYLES:
        assert int(lines[f"MindSpore, {style}, different values"]) > 4
        assert_says(lines[f"MindSpore, {style}, leaky_relu"], *[mean] * 4)
    assert_says(lines["PyTorch"], *[mean] * 4)


def test_slopes_at_bounds_and_ties(printed: Printed) -> None:
    lines = printed["slopes_at_bounds"]
    # At −3 and 3 the slopes of hardswish from within are (2x + 3) / 6.
    within = ((2 * -3 + 3) / 6, (2 * 3 + 3) / 6)
    for style in STYLES:
        assert_says(lines[f"MindSpore, {style}, relu6 at 0 and 6"], 0, 1)
        assert_says(lines[f"MindSpore, {style}, hardtanh at -1 and 1"], 0.5, 0.5)
        assert_says(lines[f"MindSpore, {style}, hardswish at -3 and 3"], *within)
        assert_says(lines[f"MindSpore, {style}, infinity norm"], 1, 0, 0)
        assert_says(lines[f"MindSpore, {style}, abs(x).max()"], 0.5, -0.5, 0)
    assert_says(lines["PyTorch, relu6 at 0 and 6"], 0, 0)
    assert_says(lines["PyTorch, hardtanh at -1 and 1"], 0, 0)
    assert_says(lines["PyTorch, hardswish at -3 and 3"], 0, 1)
    assert_says(lines["PyTorch, infinity norm"], 0.5, -0.5, 0)


@pytest.mark.parametrize("framework", ["MindSpore", "PyTorch"])
def test_each_spelling_has_a_subgradient_of_its_own(printed: Printed, framework: str) -> None:
    lines = printed["relu_at_zero"]
    relu = [
        numbers(lines[f"{framework}, {spelling}"])[0] for spelling in ("relu", "maximum", "clamp")
    ]
    # From the left the slope is 0, from the right it is 1; between them is every subgradient.
    assert relu == [0, (0 + 1) / 2, 1]
    assert_says(lines[f"{framework}, largest"], 1 / 2, 1 / 2, 0)
    assert_says(lines[f"{framework}, largest_with_index"], 1, 0, 0)


def test_the_norm_of_zeros_has_the_gradient_nan_in_mindspore(printed: Printed) -> None:
    lines = printed["zero_norm"]
    for style in STYLES:
        for label in ("", ", deviation", ", atan2"):
            found = numbers(lines[f"MindSpore, {style}{label}"])
            assert len(found) == 2
            assert np.isnan(found).all()
        assert_says(lines[f"MindSpore, {style}, with 1e-12 added"], 0, 0)
    assert_says(lines["PyTorch"], 0, 0)
    assert_says(lines["PyTorch, deviation"], 0, 0)
    assert_says(lines["PyTorch, atan2"], 0, 0)
    in_half = [lines[label] for label in lines if label.endswith("atan2 of 0.002 in float16")]
    assert len(in_half) == 3
    for line in in_half:
        assert not np.isfinite(numbers(line)).any()


def test_an_unreduced_loss_is_differentiated_as_its_sum(printed: Printed) -> None:
    lines = printed["loss_reduction"]
    rows, classes = 4, 2
    softmax_minus_one_hot = np.array([1 / classes - 1, 1 / classes])
    assert_says(lines["MindSpore, loss"], *[np.log(classes)] * rows)
    assert_says(lines["MindSpore, first row's gradient"], *softmax_minus_one_hot)
    for mean in ('MindSpore, reduction="mean"', "PyTorch, first row's gradient"):
        assert_says(lines[mean], *softmax_minus_one_hot / rows)
    assert lines['PyTorch, reduction="none"'].startswith("RuntimeError")


# What raises, and what is missing


def test_a_tuple_of_tensors_has_no_gradient(printed: Printed) -> None:
    lines = printed["tuple_input"]
    a, b = (1.0, 2.0), (3.0, 4.0)
    for style in STYLES:
        assert_says(lines[f"MindSpore, {style}, a tuple"])
        assert_says(lines[f"MindSpore, {style}, two arguments"], *b, *a)
    assert_says(lines["MindSpore, tape, mutable"])
    assert_says(lines["MindSpore, graph, mutable"], *b, *a)
    assert_says(lines["PyTorch, a tuple"], *b, *a)


def test_an_integer_index_cannot_be_differentiated_twice_on_the_tape(printed: Printed) -> None:
    lines = printed["nested_index"]
    w0, w1 = 1.0, 2.0
    right = (6 * w0 * w1 + 3 * w0**2, 3 * w0**2)
    assert lines.pop("MindSpore, tape, w[0]").startswith("TypeError")
    assert len(lines) == 6
    for line in lines.values():
        assert_says(line, *right)


def test_an_error_inside_grad_breaks_the_next(printed: Printed) -> None:
    lines = printed["failed_gradient"]
    right = (2 * 1.0, 0)
    assert_says(lines["before"], *right)
    assert lines["ms.grad(faulty)"].startswith("ValueError")
    assert lines["after"].startswith("TypeError")
    assert_says(lines["after clear_res()"], *right)


def test_the_operators_that_are_said_to_have_no_kernel_raise(printed: Printed) -> None:
    lines = printed["missing_kernels"]
    page = PAGES["en"].read_text(encoding="utf-8")
    rows = np.arange(6.0).reshape(2, 3)
    added = rows.copy()
    added[0] += rows.sum(0)
    instead = {
        "ops.einsum": np.einsum("ij,kj->ik", rows, rows),
        "ops.roll": np.roll(rows, 1),
        "Tensor.scatter_add(dim, index, src)": added,
        "nn.TripletMarginLoss": np.ones(1),  # the margin, where both distances are equal
    }
    assert len(lines) == 2 * len(instead)
    for operator, right in instead.items():
        assert f"`{operator}`" in page
        assert lines[operator].startswith("RuntimeError")
        assert_says(lines[f"{operator}, instead"], *right.ravel())


# The scenarios


def gradients(report: Report, name: str) -> dict[str, Floats]:
    """What each engine returns under a name in the only case that was asked."""
    (case,) = report.cases
    found = {}
    for engine, result in case.results.items():
        (leaf,) = (leaf for leaf in result.leaves if leaf.name == name)
        found[engine] = unpack(leaf.value).astype(np.float64)
    return found


def widest_case(workers: Workers, name: str) -> Report:
    return explore(load(FOLDER / f"{name}.py"), workers, selection="main")


def test_the_gradient_of_selu_is_right_in_pytorch_alone(workers: Workers) -> None:
    report = widest_case(workers, "selu")
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    forward = SCALE * np.where(x > 0, x, ALPHA * (np.exp(x) - 1))
    right = SCALE * np.where(x > 0, 1, ALPHA * np.exp(x))
    wrong = SCALE * np.where(x > 0, 1, forward + 1)
    found = gradients(report, "dx")
    for engine in TORCH:
        np.testing.assert_allclose(found[engine], right, rtol=FLOAT32)
    for engine in MINDSPORE:
        np.testing.assert_allclose(found[engine], wrong, rtol=FLOAT32)
    assert all(case.expected for case in report.cases)
    (section,) = (section for section in sections("en") if "selu.py" in section)
    at_minus_two = (right[0], forward[0] + 1, wrong[0])
    assert {round(float(figure), 4) for figure in at_minus_two} <= set(numbers(section))


def quotient(x: Floats) -> Floats:
    """A convergent of Lambert's continued fraction for tanh."""
    square = x * x
    above = x * (135135 + square * (17325 + square * (378 + square)))
    tangent: Floats = above / (135135 + square * (62370 + square * (3150 + 28 * square)))
    return tangent


def test_tanh_of_mindspore_is_a_quotient_that_exceeds_one(workers: Workers) -> None:
    report = widest_case(workers, "saturated_tanh")
    x = np.array([1.0, 3.0, 4.0, 5.0, 6.0])
    approximate = np.where(x <= 5, quotient(x), 1.0)
    right, wrong = 1 - np.tanh(x) ** 2, 1 - approximate**2
    found = gradients(report, "dx")
    for engine in TORCH:
        np.testing.assert_allclose(found[engine], right, atol=5e-7)
    for engine in MINDSPORE:
        np.testing.assert_allclose(found[engine], wrong, atol=5e-7)
        assert found[engine][3] < 0 == found[engine][4]
    assert all(case.expected for case in report.cases)
    (section,) = (section for section in sections("en") if "saturated_tanh.py" in section)
    values = {round(float(value), 7) for value in (approximate[3], np.tanh(5.0))}
    derivatives = {round(float(value), 5) for value in (wrong[3], right[3])}
    assert values | derivatives <= set(numbers(section))
    assert round(100 * (1 - wrong[2] / right[2]), 1) in numbers(section)


def test_a_label_s_gradient_is_minus_the_logit_and_zero_in_mindspore(workers: Workers) -> None:
    report = widest_case(workers, "label_gradient")
    logits = np.array([-2.0, -0.5, 0.5, 2.0])
    found = gradients(report, "dy")
    for engine in TORCH:
        np.testing.assert_allclose(found[engine], -logits, rtol=FLOAT32)
    for engine in MINDSPORE:
        assert not found[engine].any()


# The pages

PAGES: dict[str, Path] = {
    "en": ROOT / "docs" / "surprises.md",
    "zh": ROOT / "docs" / "zh" / "surprises.md",
}

WHAT_TO_DO = {"en": "**What to do**: ", "zh": "**怎么办**："}

NAMED = re.compile(r"docs/surprises/(\w+)\.py")

BLOCK = re.compile(r"```text\n\$ python docs/surprises/(\w+)\.py\n(.*?)```", re.S)

languages = pytest.mark.parametrize("language", list(PAGES))


def sections(language: str) -> list[str]:
    """The sections of a page, each from its heading on."""
    return PAGES[language].read_text(encoding="utf-8").split("\n## ")[1:]


@languages
def test_every_surprise_has_one_reproducer_and_says_what_to_do(language: str) -> None:
    surprises = sections(language)
    assert len(surprises) >= 20
    for section in surprises:
        assert len(set(NAMED.findall(section))) == 1, section
        assert section.count(WHAT_TO_DO[language]) == 1, section


@languages
def test_the_page_names_every_reproducer_and_no_other(language: str) -> None:
    named = [NAMED.findall(section)[0] for section in sections(language)]
    assert sorted(named) == sorted(FILES)


@languages
def test_what_the_page_shows_is_what_the_programs_print(
    language: str, outputs: dict[str, str]
) -> None:
    shown = dict(BLOCK.findall(PAGES[language].read_text(encoding="utf-8")))
    assert sorted(shown) == PROGRAMS
    for name, text in shown.items():
        assert without_figures(text) == without_figures(outputs[name]), name
        np.testing.assert_allclose(
            numbers(text), numbers(outputs[name]), rtol=ROUNDED, atol=ROUNDED, err_msg=name
        )


def without_figures(text: str) -> list[str]:
    """The words of a text; arrays are padded by the width of their figures."""
    return NUMBER.sub(" # ", text).split()


@languages
def test_figures_of_the_text_stand_in_the_output_or_the_program(
    language: str, outputs: dict[str, str]
) -> None:
    for section in sections(language):
        (name,) = set(NAMED.findall(section))
        if name in outputs:
            text = BLOCK.sub("", section)
            figures = {abs(number) for number in numbers(text) if abs(number) % 1 > 0}
            known = {abs(number) for number in numbers(outputs[name] + FILES[name])}
            assert figures <= known, name


def figures_as_written(section: str) -> list[str]:
    return sorted(NUMBER.findall(section))


def test_both_pages_have_the_same_surprises_with_the_same_figures() -> None:
    for english, chinese in zip(sections("en"), sections("zh"), strict=True):
        assert NAMED.findall(english) == NAMED.findall(chinese)
        assert figures_as_written(english) == figures_as_written(chinese)
