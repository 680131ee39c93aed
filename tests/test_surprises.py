"""The surprises of the documentation: what their reproducers show, against closed forms."""

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.report import Report
from explorer.numeric.differences import Floats
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.command_line import ROOT, python
from tests.support.scenario_reports import FLOAT32, MINDSPORE, TORCH

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]

FOLDER = ROOT / "docs" / "surprises"

FILES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.py"))}

PROGRAMS = [name for name, source in FILES.items() if "def main()" in source]
"""The files that print; the others are scenarios."""

ROUNDED = 1e-4
"""Half a unit of the last figure that a program prints is below this, absolute and relative."""

STYLES = ("tape", "graph")

NAN = "nan"
"""What a line says of which every number is not a number."""

INFINITE = "not finite"
"""What a line says of which no number is finite."""

OTHERS = "others"
"""A label that stands for all lines of a program that no other names, where none has a style."""

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
    folder = tmp_path_factory.mktemp("surprises")
    own = {**os.environ, "GLOG_v": "4", "OMP_NUM_THREADS": "1"}
    said = python("-W", "ignore", "-c", RUN_ALL, FOLDER, *PROGRAMS, cwd=folder, env=own)
    text: dict[str, str] = json.loads(said.splitlines()[-1])
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


# What the programs print, as the closed forms have it


def windows(picture: Floats) -> list[float]:
    """The sums of 3×3 windows, two apart."""
    rows, columns = picture.shape
    return [
        float(picture[row : row + 3, column : column + 3].sum())
        for row in range(0, rows - 2, 2)
        for column in range(0, columns - 2, 2)
    ]


def in_training(x: Floats, epsilon: float) -> Floats:
    """The gradient of the sum of cubes of a normalised x."""
    deviation = np.sqrt(x.var() + epsilon)
    y = (x - x.mean()) / deviation
    slope = 3 * y**2
    gradient: Floats = (slope - slope.mean() - y * (slope * y).mean()) / deviation
    return gradient


def normalised(row: Floats, epsilon: float) -> Floats:
    scaled: Floats = (row - row.mean()) / np.sqrt(row.var() + epsilon)
    return scaled


X2, X3, X4 = np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0]), np.arange(1.0, 5.0)
EXP = np.exp([0.0, 1.0, 2.0])
WRITTEN = {"slice": np.array([1.0, 9.0, 3.0]), "view": np.array([1.0, 9.0, 3.0, 4.0])}
SHARED = (WRITTEN["slice"] ** 2).sum(), *2 * WRITTEN["slice"] * [1, 0, 1]
SEEN = (WRITTEN["view"] ** 2).sum(), *2 * WRITTEN["view"] * [1, 0, 1, 1]
LOST = (X4**2).sum(), *2 * X4
RETURNED = {"add_(1)": X2 + 1, "sub_(1)": X2 - 1, "mul_(2)": X2 * 2, "div_(2)": X2 / 2}
SUMS = {"1, 2, 3": (2 + 3, 1 + 3, 1 + 2), "0, 2, 3": (2 + 3, 0 + 3, 0 + 2)}
NORMALISED = np.array([1.0, 2.0, 6.0])
SCORES = np.array([0.1, 0.2, 0.4, 0.8])
# Label 1 is right; the others should be a margin of 1 below it.
MARGINS = 1 - (SCORES[1] - np.delete(SCORES, 1))
PICTURE = np.arange(16.0).reshape(4, 4)
SMALL_ROW = np.array([0.001, 0.002, 0.003])
DECAYED = 1 - 0.1 * 0.1
RATE, G = 0.1, 0.1
FROM_ZERO = RATE * G / np.sqrt(0.01 * G**2)
SECOND = np.sqrt(1 - 0.999)
MEAN_SLOPE = -(1 / 8 + 1 / 3) / 2
SOFTMAX = np.array([1 / 2 - 1, 1 / 2])
ROWS = np.arange(6.0).reshape(2, 3)
SINGLE = float(np.float32(0.1))
A, B = (1.0, 2.0), (3.0, 4.0)


def first_steps(gradient: float) -> dict[str, float]:
    """Adam's first step, by where epsilon and the correction of the bias stand."""
    corrected_after = RATE * gradient / (gradient + 1e-8)
    steps = {
        "PyTorch, Adam": corrected_after,
        "PyTorch, AdamW": corrected_after,
        "MindSpore, nn.Adam": RATE * SECOND * gradient / (SECOND * gradient + 1e-8),
        "MindSpore, nn.AdamWeightDecay": RATE * (1 - 0.9) * gradient / (SECOND * gradient + 1e-6),
    }
    return {f"{name}, gradient {gradient:g}": step for name, step in steps.items()}


SAID: dict[str, dict[str, Any]] = {
    # Wrong without a message
    "nested_sum": {
        "MindSpore, tape": (0, 0),
        "MindSpore, tape, under ms.jit | MindSpore, graph | PyTorch": [6 * X2.sum() * X2.size] * 2,
    },
    "in_place_exp": {
        # On the tape the update is lost: its gradient is right of another function.
        "MindSpore, tape, value": EXP.sum(),
        "MindSpore, tape, gradient | MindSpore, {style}, y = y + 1, gradient": EXP,
        "MindSpore, graph, value | MindSpore, {style}, y = y + 1, value": EXP.sum() + 3,
        "MindSpore, graph, gradient": EXP + 1,
        "PyTorch": "RuntimeError",
    },
    "in_place_nothing": {
        **{f"MindSpore, tape, {call} returns": changed for call, changed in RETURNED.items()},
        **{f"PyTorch, x after {call}": changed for call, changed in RETURNED.items()},
        **{f"MindSpore, tape, x after {call}": X2 for call in RETURNED},
        "MindSpore, tape, the sum of exp(x).mul_(2)": np.exp(X2).sum(),
        "MindSpore, tape, its gradient": np.exp(X2),
        "MindSpore, tape, y = y * 2": 2 * np.exp(X2),
        "MindSpore, graph, y after add_(1)": X2 + 1,
        "MindSpore, tape, mint.optim.SGD | MindSpore, tape, mint.optim.Adam": X2,
        "MindSpore, tape, experimental.optim.SGD | MindSpore, graph, mint.optim.SGD": X2 - 0.5,
    },
    "product_second": {
        **{f"PyTorch at {at}": sums for at, sums in SUMS.items()},
        **{f"MindSpore, {{style}}, a * b * c at {at}": sums for at, sums in SUMS.items()},
        **{f"MindSpore, graph, prod(x) at {at}": "RuntimeError" for at in SUMS},
        "MindSpore, tape, prod(x) at 0, 2, 3 | MindSpore, tape, prod(x, 1) at 0, 2, 3": (0, 0, 0),
        "MindSpore, graph, prod(x, 1) at 1, 2, 3": SUMS["1, 2, 3"],
    },
    "training_mode": {
        "MindSpore, {style}, evaluation | PyTorch, evaluation | MindSpore, graph, training": (
            3 * NORMALISED**2 / (1 + 1e-5) ** 1.5
        ),
        "MindSpore, tape, training | PyTorch, training | MindSpore, {style}, training, ms.grad again": (
            in_training(NORMALISED, 1e-5)
        ),
    },
    "captured_values": {
        "{style}, scale 2, gradient": 2,
        "{style}, scale 5, value": 5,
        "tape, scale 5, gradient | tape, numbers drawn in five calls": 5,
        "graph, scale 5, gradient": 2,
        "graph, numbers drawn in five calls": 1,
    },
    "slice_write": {
        # The element that was overwritten no longer depends on x.
        "MindSpore, tape | PyTorch": SHARED,
        "MindSpore, graph": ((X3**2).sum(), *2 * X3),
    },
    "view_write": {
        **{f"MindSpore, tape, {name}, called": SEEN[0] for name in (".view()", ".T", "h[0]")},
        **{f"PyTorch, {name}": SEEN for name in (".view()", ".T", "h[0]", "no view")},
        "MindSpore, tape, no view, called": SEEN[0],
        "MindSpore, {style}, .view(), differentiated | MindSpore, {style}, .T, differentiated": LOST,
        "MindSpore, graph, h[0], differentiated": LOST,
        "MindSpore, tape, h[0], differentiated | MindSpore, {style}, no view, differentiated": SEEN,
    },
    "masked_row": {
        "MindSpore, {style}, float32, last axis": [0] * 6,
        "MindSpore, {style}, float32, first axis | MindSpore, {style}, float64, last axis": NAN,
        "MindSpore, {style}, float32, at least -1e30": (*[1 / 3] * 3, 0, 0, 0),
        "PyTorch, torch.float32, last axis | PyTorch, torch.float64, last axis": NAN,
    },
    "nan_minimum": {
        "MindSpore, {style}, minimum(nan, 2) | MindSpore, {style}, maximum(nan, 2)": 2,
        "MindSpore, {style}, minimum(2, nan) | MindSpore, {style}, maximum(2, nan)": NAN,
        "PyTorch, minimum(nan, 2) | PyTorch, minimum(2, nan)": NAN,
        "PyTorch, maximum(nan, 2) | PyTorch, maximum(2, nan) | MindSpore, {style}, guarded": NAN,
    },
    "empty_mean": {
        "MindSpore, {style}, every mean is nan | MindSpore, {style}, every sum is 0": "False",
        "MindSpore, {style}, guarded": 0,
        "PyTorch": (0, np.nan),
    },
    "power_of_zero": {
        "MindSpore, {style}, x**0": (1, 1, np.nan, 0),
        "MindSpore, {style}, x**0 where x is not 0 | PyTorch, x**0": (1, 1, 0, 0),
    },
    "product_create_graph": {"PyTorch | PyTorch, create_graph=True, float64": (0, 0, 0, 0)},
    "compiled_multilabel": {
        "PyTorch, tape | PyTorch, written out | PyTorch, written out, compiled": (
            MARGINS.sum() / 4,
            *(1 / 4, -3 / 4, 1 / 4, 1 / 4),
        )
    },
    "forward_mode_no_grad": {
        "PyTorch, no_grad, jacrev | PyTorch, detach, jacrev | PyTorch, detach, jacfwd": 3 * 2,
        "PyTorch, no_grad, jacfwd": 6 * 2,
    },
    "custom_saved": {
        "PyTorch, saves x * x": (3 * 2**2, 3 * 2**2),
        "PyTorch, saves x | PyTorch, returns x * x too": (3 * 2**2, 9 * 2**2),
    },
    "repeated_scatter": {
        "MindSpore, {style}, gradient | PyTorch, gradient": (3, 3),
        "MindSpore, {style}, later alone | PyTorch, later alone | differences": (0, 3),
    },
    "addcmul_shape": {
        "MindSpore, tape, scaled | MindSpore, tape, used_twice | PyTorch, scaled": (1, 4),
        "MindSpore, {style}, written_out": (1, 4),
        "MindSpore, graph, scaled": 4,
        "MindSpore, graph, used_twice": "ValueError",
    },
    "integer_input": {
        "MindSpore, {style}, Tensor([1, 2, 3])": (0, 0, 0),
        "MindSpore, {style}, Tensor([1.0, 2.0, 3.0])": (0.5, 0.5, 0.5),
        "PyTorch": "RuntimeError",
    },
    "double_precision": {
        "MindSpore, {style}, x * 0.1": f"{SINGLE:.17f} {SINGLE:.17f} Float64",
        "MindSpore, {style}, x * 0.125": f"{0.125:.17f} {0.125:.17f} Float64",
        "PyTorch, x * 0.1": f"{0.1:.17f} {0.1:.17f} torch.float64",
    },
    "same_tensor_twice": {
        "MindSpore, tape, product(x, x) | PyTorch, torch.autograd.grad": 2 * X3,
        "PyTorch, torch.compile | PyTorch, torch.autograd.grad, x.clone()": 2 * X3,
        "MindSpore, graph, product(x, x) | MindSpore, {style}, product(x, copy)": X3,
        "PyTorch, torch.func.grad | PyTorch, torch.autograd.grad, x.detach().clone()": X3,
    },
    "saved_on_cpu": {"plain": "RuntimeError", "under save_on_cpu": EXP + 1, "right": EXP},
    "second_backward": {
        "after the first backward": (1, np.exp(0)),
        "the second": "RuntimeError",
        "after the second backward": (2, np.exp(0)),
    },
    # What was compiled for a gradient function is kept.
    "kept_nets": {
        "MindSpore, graph, ms.grad(net)(x)": "5 of 5 nets are left",
        "MindSpore, graph, in a Cell, (*inputs, *options)": "5 of 5 nets are left",
        "MindSpore, graph, TrainOneStepCell": "5 of 5 nets are left",
        OTHERS: "0 of 5 nets are left",
    },
    # Training
    "unscale_float16": {
        # A float16 has 11 bits, and here three decimals are printed.
        "scaled": pytest.approx(1e-8 * 65536, rel=1e-3),
        "MindSpore, unscaled in float16": pytest.approx(0, abs=0),
        "MindSpore, cast to float32 first": pytest.approx(1e-8, rel=1e-2),
        "PyTorch": "ValueError",
    },
    "decay_by_name": {
        "MindSpore, weight | PyTorch, beta | MindSpore, beta, in a group": DECAYED,
        "MindSpore, beta_net.weight, in a group": DECAYED,
        "MindSpore, beta | MindSpore, beta_net.weight": 1,
    },
    "unused_parameter": {
        "MindSpore, {style}, gradient of idle": 0,
        "MindSpore, {style}, idle after a step": DECAYED,
        "MindSpore, {style}, momentum, used once": 1 - 0.1,
        "MindSpore, {style}, momentum, not used then": 1 - 0.1 - 0.1 * 0.9,
        "PyTorch, gradient of idle": "None",
        "PyTorch, idle after a step": 1,
    },
    "first_steps": {**first_steps(1.0), **first_steps(1e-7)},
    "rmsprop_start": {
        "MindSpore, RMSProp": RATE * G / np.sqrt(0.9 + 0.1 * G**2),
        "MindSpore, RMSProp from 0, decay 0.99 | PyTorch, RMSprop": FROM_ZERO,
        "MindSpore, Adagrad": RATE * G / np.sqrt(0.1 + G**2),
        "MindSpore, Adagrad, accum 0 | PyTorch, Adagrad": RATE,
    },
    # Layers and losses
    "strided_padding": {
        "MindSpore, default (same)": windows(np.pad(PICTURE, (0, 1))),
        'MindSpore, pad_mode="pad", padding=1 | PyTorch, padding=1': windows(np.pad(PICTURE, 1)),
        'PyTorch, padding="same"': "ValueError",
    },
    "layer_norm_epsilon": {
        "MindSpore, epsilon by default": pytest.approx(1e-7),
        "PyTorch, eps by default": pytest.approx(1e-5),
        "MindSpore": normalised(SMALL_ROW, 1e-7),
        "MindSpore, epsilon=1e-5 | PyTorch": normalised(SMALL_ROW, 1e-5),
    },
    # The deviation of 64,000 normal numbers is known to 0.3 %; one line shows four decimals of 0.01.
    "embedding_start": {
        "MindSpore": pytest.approx(0.01, rel=0.015),
        "MindSpore, Normal(1.0) | PyTorch": pytest.approx(1, rel=0.015),
    },
    "padding_index": {
        "MindSpore, initial row 0 | PyTorch, initial row 0 | PyTorch, gradient of row 0": (0, 0),
        "MindSpore, {style}, gradient of row 0": (2, 2),
        "MindSpore, {style}, gradient of row 0, masked": (0, 0),
    },
    "rrelu_evaluation": {"MindSpore, {style}, leaky_relu | PyTorch": [MEAN_SLOPE] * 4},
    "slopes_at_bounds": {
        "MindSpore, {style}, relu6 at 0 and 6": (0, 1),
        "MindSpore, {style}, hardtanh at -1 and 1": (0.5, 0.5),
        # At −3 and 3 the slopes of hardswish from within are (2x + 3) / 6.
        "MindSpore, {style}, hardswish at -3 and 3": ((2 * -3 + 3) / 6, (2 * 3 + 3) / 6),
        "MindSpore, {style}, infinity norm": (1, 0, 0),
        "MindSpore, {style}, abs(x).max() | PyTorch, infinity norm": (0.5, -0.5, 0),
        "PyTorch, relu6 at 0 and 6 | PyTorch, hardtanh at -1 and 1": (0, 0),
        "PyTorch, hardswish at -3 and 3": (0, 1),
    },
    "relu_at_zero": {
        # From the left the slope is 0, from the right it is 1; between them is every subgradient.
        "MindSpore, relu | PyTorch, relu": 0,
        "MindSpore, maximum | PyTorch, maximum": (0 + 1) / 2,
        "MindSpore, clamp | PyTorch, clamp": 1,
        "MindSpore, largest | PyTorch, largest": (1 / 2, 1 / 2, 0),
        "MindSpore, largest_with_index | PyTorch, largest_with_index": (1, 0, 0),
    },
    "zero_norm": {
        "MindSpore, {style} | MindSpore, {style}, deviation": (np.nan, np.nan),
        "MindSpore, {style}, atan2": (np.nan, np.nan),
        "PyTorch, atan2 of 0.002 in float16": INFINITE,
        "MindSpore, {style}, atan2 of 0.002 in float16": INFINITE,
        "MindSpore, {style}, with 1e-12 added | PyTorch": (0, 0),
        "PyTorch, deviation | PyTorch, atan2": (0, 0),
    },
    "ctc_gradient": {
        # The loss is −x₁; behind a log-softmax the gradient is softmax minus the label's one.
        "MindSpore, {style}, by the log-probabilities | PyTorch, by the log-probabilities": (
            0.25,
            0.75 - 1,
        ),
        "MindSpore, {style}, by the logits | PyTorch, by the logits": (0.25, 0.75 - 1),
        "MindSpore, differences by the log-probabilities": (0, -1),
        "PyTorch, differences by the log-probabilities": (0, -1),
    },
    "loss_reduction": {
        "MindSpore, loss": [np.log(2)] * 4,
        "MindSpore, first row's gradient": SOFTMAX,
        'MindSpore, reduction="mean" | PyTorch, first row\'s gradient': SOFTMAX / 4,
        'PyTorch, reduction="none"': "RuntimeError",
    },
    # What raises, and what is missing
    "nested_index": {
        # The gradient of 3·w₀²·w₁ at (1, 2), once more.
        "MindSpore, tape, w[0]": "TypeError",
        OTHERS: (6 * 1 * 2 + 3 * 1**2, 3 * 1**2),
    },
    "missing_kernels": {
        "ops.einsum, instead": np.einsum("ij,kj->ik", ROWS, ROWS),
        "ops.roll, instead": np.roll(ROWS, 1),
        "Tensor.scatter_add(dim, index, src), instead": np.add(ROWS, [ROWS.sum(0), (0, 0, 0)]),
        "nn.TripletMarginLoss, instead": 1,  # the margin, where both distances are equal
        OTHERS: "RuntimeError",
    },
    "tuple_input": {
        "MindSpore, {style}, a tuple | MindSpore, tape, mutable": (),
        "MindSpore, {style}, two arguments | MindSpore, graph, mutable": (*B, *A),
        "PyTorch, a tuple": (*B, *A),
    },
    "failed_gradient": {
        "before | after clear_res()": (2 * 1.0, 0),
        "ms.grad(faulty)": "ValueError",
        "after": "TypeError",
    },
}
"""By program and by the labels of its lines: their numbers, or how they begin."""


def lines_of(labels: str, lines: dict[str, str], said: dict[str, Any]) -> list[str]:
    """The lines that a key of the table stands for."""
    if labels == OTHERS:
        named = {label for each in said if each != OTHERS for label in each.split(" | ")}
        return [line for label, line in lines.items() if label not in named]
    found = []
    for label in labels.split(" | "):
        styles = STYLES if "{style}" in label else ("",)
        found += [lines[label.replace("{style}", style)] for style in styles]
    return found


@pytest.mark.parametrize("program", SAID)
def test_a_program_prints_what_the_closed_forms_say(program: str, printed: Printed) -> None:
    for labels, right in SAID[program].items():
        lines = lines_of(labels, printed[program], SAID[program])
        assert lines, labels
        for line in lines:
            if right is NAN:
                assert np.isnan(numbers(line)).all(), labels
            elif right is INFINITE:
                assert not np.isfinite(numbers(line)).any(), labels
            elif isinstance(right, str):
                assert line.startswith(right), labels
            elif isinstance(right, type(pytest.approx(0))):
                assert numbers(line) == [right], labels
            else:
                assert_says(line, *np.ravel(right))


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


def test_what_is_more_than_numbers_is_as_the_page_says(printed: Printed) -> None:
    """What the table above cannot say: how far something is off, of which dtype, how often it differs."""
    for at, sums in SUMS.items():
        along_an_axis = np.array(
            numbers(printed["product_second"][f"MindSpore, tape, prod(x, 1) at {at}"])
        )
        assert np.abs(along_an_axis - sums).max() > 1
    at_zero = printed["product_second"]["MindSpore, graph, prod(x, 1) at 0, 2, 3"]
    assert np.isnan(numbers(at_zero)[0])
    in_single = numbers(printed["product_create_graph"]["PyTorch, create_graph=True"])
    assert np.isnan(in_single).tolist() == [False, False, True, False]
    assert (MARGINS > 0).all()
    compiled = numbers(printed["compiled_multilabel"]["PyTorch, compiled"])
    assert abs(compiled[0] - MARGINS.sum() / 4) > 1
    assert SINGLE != 0.1
    for style in STYLES:
        assert printed["integer_input"][f"MindSpore, {style}, Tensor([1, 2, 3])"].endswith("Int64")
        assert int(printed["rrelu_evaluation"][f"MindSpore, {style}, different values"]) > 4


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
