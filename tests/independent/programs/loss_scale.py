"""The figures of the claims on loss scaling and float16, and of their study."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.independent.attempts import attempt
from tests.independent.guide_net import BY_WEIGHT, ERROR, mindspore_arguments, mindspore_net


# Row 12: the guide's loss and gradient scaled by 1024, and unscaled again.
def row_12_closed_form() -> dict[str, Any]:
    """The loss (x·w − y)² and its gradient with respect to w, times 1024."""
    return {
        "scaled": {"loss": 1024 * ERROR**2, "gradient": (1024 * BY_WEIGHT).tolist()},
        "unscaled": {"loss": ERROR**2, "gradient": BY_WEIGHT.tolist()},
    }


def row_12_in_mindspore(ms: Any) -> dict[str, Any]:
    """Whether the scaled gradients are finite, as the guide has it."""
    net, scaler = mindspore_net(), ms.amp.StaticLossScaler(1024)

    def forward(x: Any, y: Any) -> Any:
        loss, _ = net(x, y)
        return scaler.scale(loss)

    weights = ms.ParameterTuple(net.trainable_params())
    _, gradients = ms.value_and_grad(forward, None, weights)(*mindspore_arguments())
    return {"all finite": bool(ms.amp.all_finite(gradients))}


# Row 13: which pairs of tensors are finite all through.
CASES = {
    "finite numbers": [[1.0, -2.0], [3.0]],
    "zeros": [[0.0, 0.0], [0.0]],
    "inf": [[1.0, np.inf], [3.0]],
    "-inf": [[1.0, -np.inf], [3.0]],
    "nan": [[1.0, np.nan], [3.0]],
    "inf in the last of two tensors": [[1.0, -2.0], [np.inf]],
    "the greatest float16": [[1.0, 65504.0], [3.0]],
}
CASES_BY_NAME = {
    f"{name}, {dtype}": [np.array(tensor, dtype) for tensor in tensors]
    for dtype in ("float16", "float32")
    for name, tensors in CASES.items()
}


def row_13_closed_form() -> dict[str, Any]:
    """By numpy's isfinite."""
    return {
        name: all(bool(np.isfinite(array).all()) for array in arrays)
        for name, arrays in CASES_BY_NAME.items()
    }


def row_13_in_torch(torch: Any) -> dict[str, Any]:
    """By GradScaler, which refuses float16."""
    figures: dict[str, Any] = {}
    for name, arrays in CASES_BY_NAME.items():
        parameters = []
        for values in map(torch.tensor, arrays):
            parameter = torch.zeros_like(values).requires_grad_()
            parameter.grad = values
            parameters.append(parameter)
        figures[name] = attempt(_steps, torch, parameters)
    return figures


def _steps(torch: Any, parameters: list[Any]) -> bool:
    """Whether a step is taken, which moves the weights, or left out."""
    optimizer = torch.optim.SGD(parameters, 1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=1.0)
    scaler.scale(torch.ones(()))
    scaler.unscale_(optimizer)
    state = scaler._found_inf_per_device(optimizer)
    return not any(bool(found) for found in state.values())


# Row 14: what float16, bfloat16 and float32 hold of a gradient of 1e-8, with and without a scale of 65536.
#
# The gradient is the product of an activation and a slope of 1e-4 each.
SLOPE, SCALE = 1e-4, 65536.0


def row_14_closed_form() -> dict[str, Any]:
    """By rounding each number to the dtype, to the nearest, ties to even."""
    roundings: dict[str, Callable[[float], float]] = {
        "float16": _float16,
        "bfloat16": _bfloat16,
        "float32": _float32,
    }
    figures = {}
    for dtype, rounded in roundings.items():
        gradient = rounded(rounded(SLOPE) * rounded(SLOPE))
        scaled = rounded(rounded(SLOPE) * rounded(SCALE * rounded(SLOPE)))
        figures[dtype] = {
            "without": gradient,
            "scaled": scaled,
            "unscaled there": rounded(scaled / SCALE),
            "unscaled in float32": _float32(scaled / SCALE),
        }
    return figures


def _float16(value: float) -> float:
    return float(np.float16(value))


def _float32(value: float) -> float:
    return float(np.float32(value))


def _bfloat16(value: float) -> float:
    # A bfloat16 is the upper half of a float32.
    bits = int(np.float32(value).view(np.uint32))
    halfway = 0x7FFF + ((bits >> 16) & 1)
    upper = (bits + halfway) & 0xFFFF0000
    return float(np.uint32(upper).view(np.float32))


def row_14_in_torch(torch: Any) -> dict[str, Any]:
    """What becomes of unscaling in float16."""
    weight = torch.ones(1, dtype=torch.float16, requires_grad=True)
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.SGD([weight], 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=SCALE)
    scaler.scale(torch.ones(()))
    return {"unscaled there": attempt(scaler.unscale_, optimizer)}


# Row 15: a dynamic scale that starts at 2^18, has factor 2, and grows after three finite steps.
GREATEST = 65504.0
"""The greatest float16."""

GIVEN = [1.0] * 9 + [32.0] + [1.0] * 6 + [0.125] * 8
"""The gradient of each step before it is scaled."""


def row_15_closed_form() -> dict[str, Any]:
    """The scale at each step by the rule that both frameworks' documents state."""
    scale, finite_steps = 2.0**18, 0
    turns = []
    for gradient in GIVEN:
        before = scale
        is_finite = before * gradient <= GREATEST
        if is_finite:
            finite_steps += 1
            if finite_steps == 3:
                scale, finite_steps = before * 2, 0
        else:
            scale, finite_steps = before / 2, 0
        turns.append({"scale": before, "after": scale, "finite": is_finite, "stepped": is_finite})
    return {"turns": turns}


def row_15_in_mindspore(ms: Any) -> dict[str, Any]:
    """What a step along an infinite gradient leaves, and what two cells with a scale raise."""

    def optimizer_of(net: Any) -> Any:
        return ms.nn.SGD(net.trainable_params(), 0.125)

    net = ms.nn.Dense(1, 1, ms.Tensor([[1.0]]), has_bias=False)
    optimizer_of(net)((ms.Tensor([[float("inf")]]),))
    weight = float(net.weight.asnumpy()[0, 0])

    def cell() -> Any:
        net = ms.nn.Dense(1, 1, has_bias=False)
        scale = ms.nn.DynamicLossScaleUpdateCell(2**18, 2, 3)
        step = ms.nn.TrainOneStepWithLossScaleCell(net, optimizer_of(net), scale)
        return step(ms.Tensor([[1.0]]))

    def built() -> Any:
        net = ms.nn.Dense(1, 1, has_bias=False)
        manager = ms.amp.DynamicLossScaleManager(2**18, 2, 3)
        return ms.amp.build_train_network(net, optimizer_of(net), loss_scale_manager=manager)

    return {
        "weight": ["-Infinity" if weight == float("-inf") else weight],
        "moved": weight != 1,
        "cell": attempt(cell),
        "built": attempt(built),
    }


# Rows 86 and 94: the float16 gradient of x² at 40, with and without a scale of 1024; a loss in float16
# that looks sound, x·300·300 at 0.01, and its gradient, which is above 65504.
def row_86_closed_form() -> dict[str, Any]:
    """Each product rounded to float16, and whether it is finite."""
    loss = _float16(_float16(_float16(0.01) * 300) * 300)
    return {
        "unscaled": _in_half(2 * 40.0),
        "scaled": _in_half(2 * 40.0 * 1024.0),
        "loss": loss,
        "loss is finite": bool(np.isfinite(loss)),
        "gradient": _in_half(300.0 * 300.0),
    }


def _in_half(number: float) -> float | str:
    with np.errstate(over="ignore"):
        rounded = _float16(number)
    return rounded if np.isfinite(rounded) else "not finite"


# The study of loss scaling: the share of 256 gradients that float16 loses, by the scale 2^0 to 2^24.
def study_loss_scale_closed_form() -> dict[str, Any]:
    """Gradients are products of an activation and a scaled slope, each rounded to float16."""
    generator = np.random.default_rng(0)
    activations = (1 + generator.integers(0, 8, 256) / 8) * 2.0 ** generator.integers(-8, 1, 256)
    slopes = (2.0 ** generator.uniform(-26, 0, 256)).astype(np.float32)
    underflow, overflow = [], []
    for exponent in range(25):
        with np.errstate(over="ignore"):
            scaled = (slopes * np.float32(2.0**exponent)).astype(np.float16)
            gradients = activations.astype(np.float16) * scaled
        underflow.append(float((gradients == 0).mean()))
        overflow.append(float((~np.isfinite(gradients)).mean()))
    return {"underflow": underflow, "overflow": overflow}
