"""Loss scaling in MindSpore, measured in graph and tape style."""

import time
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.amp import DynamicLossScaler, StaticLossScaler, all_finite
from mindspore.train.amp import build_train_network
from mindspore.train.loss_scale_manager import DynamicLossScaleManager

from explorer.engines.mindspore.net import build
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt, attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.loss_scale import inputs
from explorer.topics.scenario_nets import net_request

FLOATS = {name: getattr(ms, name) for name in inputs.DTYPES}


def weighted(weight: Any, activation: Any, slope: Any, scale: Any) -> Any:
    """A layer in the weight's dtype, with the loss and its scale in float32."""
    return ((weight * activation).astype(ms.float32) * slope).sum() * scale


def sweep(ask: Ask) -> Found:
    """What becomes of gradients of many magnitudes at scales 2**0 … 2**24, in each float."""
    set_style(ask.options["style"], ask.device)
    activations, slopes = inputs.spread()
    weight_gradient = ms.grad(weighted)
    figures: dict[str, Any] = {}
    timings: dict[str, float] = {}
    for name, dtype in FLOATS.items():
        start = time.perf_counter()
        weight = ms.Tensor(np.ones_like(activations)).astype(dtype)
        activation = ms.Tensor(activations).astype(dtype)
        gradients = []
        for exponent in inputs.EXPONENTS:
            # A tensor, since a Python number would be compiled in, once for every scale (2.10).
            scale = ms.Tensor(np.float32(2.0**exponent))
            gradient = weight_gradient(weight, activation, ms.Tensor(slopes), scale)
            gradients.append(gradient.astype(ms.float32).asnumpy())
        figures[name] = inputs.losses_by_scale(gradients)
        timings[name] = time.perf_counter() - start
    return Found(figures, timings)


def guide_example(ask: Ask) -> Found:
    """The guide's net with its loss scaled by 1024, and everything back again."""
    net = build(net_request(ask, f"mindspore-{ask.options['style']}"))
    call = net.call
    scaler = StaticLossScaler(1024)

    def forward(x: Any, y: Any) -> Any:
        """The scaled loss: one that is scaled later has plain gradients."""
        loss, logits = call(x, y)
        return scaler.scale(loss), logits

    gradient_function = ms.value_and_grad(forward, None, net.weights, has_aux=True)
    (loss, _), gradients = gradient_function(*net.arguments)
    return Found(
        {
            "scaled": {"loss": numbers(loss), "gradient": numbers(gradients[0])},
            "unscaled": {
                "loss": numbers(scaler.unscale(loss)),
                "gradient": numbers(scaler.unscale(gradients)[0]),
            },
            "all_finite": bool(all_finite(gradients)),
            "adjust returns": scaler.adjust(all_finite(gradients)),
        }
    )


def finiteness(ask: Ask) -> Found:
    """What ``all_finite`` says of gradients that hold finite numbers, infinities and NaN.

    In float16 and float32.
    """
    set_style(ask.options["style"], ask.device)
    figures = {}
    for dtype in ("float16", "float32"):
        for case, (first, second) in inputs.FINITE_CASES.items():
            gradients = (ms.Tensor(np.array(first, dtype)), ms.Tensor(np.array(second, dtype)))
            figures[f"{case}, {dtype}"] = bool(all_finite(gradients))
    return Found(figures)


def tiny(weight: Any, scale: Any) -> Any:
    """A slope of 1e-8, made of two factors that float16 can hold."""
    return (weight * 1e-4).astype(ms.float32).sum() * 1e-4 * scale


def underflow(ask: Ask) -> Found:
    """One gradient of 1e-8 in each float, with and without scaling.

    Scaled by 65536, and unscaled in that float or in float32.
    """
    set_style(ask.options["style"], ask.device)
    scaler = StaticLossScaler(inputs.TINY_SCALE)
    gradient_function = ms.grad(tiny)
    figures = {}
    for name, dtype in FLOATS.items():
        weight = ms.Tensor(np.ones(1, np.float32)).astype(dtype)
        plain = gradient_function(weight, ms.Tensor(1.0, ms.float32))
        scaled = gradient_function(weight, ms.Tensor(inputs.TINY_SCALE, ms.float32))
        unscaled = scaler.unscale((scaled,))[0]
        unscaled_in_float32 = scaler.unscale((scaled.astype(ms.float32),))[0]
        figures[name] = {
            "without": numbers(plain)[0],
            "scaled": numbers(scaled)[0],
            "unscaled there": numbers(unscaled)[0],
            "unscaled in float32": numbers(unscaled_in_float32)[0],
        }
    return Found(figures)


def life_of_scaler(ask: Ask) -> Found:
    """DynamicLossScaler through steps of training: scale, step or skip, adjust.

    A float16 layer is trained, with a float32 weight.
    """
    set_style(ask.options["style"], ask.device)
    weight = ms.Parameter(ms.Tensor([1.0], ms.float32), name="weight")
    scaler = DynamicLossScaler(inputs.INITIAL, inputs.FACTOR, inputs.WINDOW)
    optimizer = nn.SGD([weight], 0.125)

    def forward(slope: Any) -> Any:
        """The scaled loss in float32; its gradient overflows on the way through float16."""
        return scaler.scale((weight.astype(ms.float16).astype(ms.float32) * slope).sum())

    gradient_function = ms.value_and_grad(forward, None, optimizer.parameters)
    turns = []
    for slope in inputs.BATCHES:
        scale = scale_of(scaler)
        weight_before = weight.asnumpy().copy()
        _, gradients = gradient_function(ms.Tensor(slope, ms.float32))
        gradients = scaler.unscale(gradients)
        finite = all_finite(gradients)
        if finite:  # the scaler leaves it to the user to skip the step
            optimizer(gradients)
        scaler.adjust(finite)
        stepped = not np.array_equal(weight_before, weight.asnumpy())
        turns.append(inputs.turn(scale, scale_of(scaler), bool(finite), stepped))
    return Found({"turns": turns, "weight": numbers(weight)[0]})


def scale_of(scaler: DynamicLossScaler) -> float:
    """The present scale of a dynamic scaler."""
    return float(scaler.scale_value.asnumpy())


def limits(ask: Ask) -> Found:
    """How low overflows take the scale of DynamicLossScaler, and how high steps without one."""
    set_style(ask.options["style"], ask.device)
    figures = {}
    # LIMIT_STEPS halvings of 8 lead below 1, and as many doublings of 2**125 beyond float32.
    for name, initial, finite in (("down", 8.0, False), ("up", 2.0**125, True)):
        scaler = DynamicLossScaler(initial, 2, 1)  # with a window of 1 every finite step grows
        scales = [initial]
        for _ in range(inputs.LIMIT_STEPS):
            scaler.adjust(ms.Tensor(finite))
            scales.append(scale_of(scaler))
        figures[name] = scales
    return Found(figures)


def unscaling(ask: Ask) -> Found:
    """How far unscale(scale(gradient)) is from the gradient, and what scalers refuse.

    For a power of two and for other scales.
    """
    set_style(ask.options["style"], ask.device)
    gradient = inputs.ordinary_gradient()
    errors = {}
    for scale in inputs.SCALES_UNDONE:
        scaler = StaticLossScaler(scale)
        unscaled = scaler.unscale(scaler.scale(ms.Tensor(gradient))).asnumpy()
        errors[str(scale)] = inputs.greatest_relative_error(unscaled, gradient)
    refused = {
        "a scale below 1": attempt(StaticLossScaler, 0.5),
        "a factor that is no integer": attempt(DynamicLossScaler, 1024.0, 1.5, 3),
    }
    return Found({"error": errors, "refused": refused})


# What MindSpore's own routes do with a step whose gradients overflowed

OVERFLOWING = inputs.BATCHES[0]
"""The slope of a batch whose gradient overflows float16 at the first scale."""


class HalfLayer(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """A float32 weight whose gradient passes through float16."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([1.0], ms.float32), name="weight")

    def construct(self, slope: Any) -> Any:
        """The loss of one batch, in float32."""
        return (self.weight.astype(ms.float16).astype(ms.float32) * slope).sum()


def overflowed_step(ask: Ask) -> Found:
    """Whether a step after an overflow moves the weight, by the route that takes the step.

    What a route raises stands in its place.
    """
    set_style(ask.options["style"], ask.device)
    routes: dict[str, Callable[..., Any]] = {
        "optimizer(gradients)": called_without_a_look,
        "nn.TrainOneStepWithLossScaleCell": cell_with_loss_scale,
        "amp.build_train_network with DynamicLossScaleManager": built_with_manager,
    }
    return Found({name: attempt_briefly(moved, route) for name, route in routes.items()})


def moved(route: Callable[[HalfLayer, Any], None]) -> dict[str, Any]:
    """Whether one step of ``route`` moves the weight, and where to."""
    net = HalfLayer()
    before = net.weight.asnumpy().copy()
    route(net, nn.SGD(net.trainable_params(), 0.125))
    after = net.weight
    return {"stepped": not np.array_equal(before, after.asnumpy()), "weight": numbers(after)}


def called_without_a_look(net: HalfLayer, optimizer: Any) -> None:
    """Scale, differentiate, unscale and step, without a look at what all_finite says."""
    scaler = DynamicLossScaler(inputs.INITIAL, inputs.FACTOR, inputs.WINDOW)

    def forward(slope: Any) -> Any:
        """The scaled loss."""
        return scaler.scale(net(slope))

    gradient_function = ms.value_and_grad(forward, None, optimizer.parameters)
    _, gradients = gradient_function(ms.Tensor(OVERFLOWING, ms.float32))
    optimizer(scaler.unscale(gradients))


def cell_with_loss_scale(net: HalfLayer, optimizer: Any) -> None:
    """The training cell that looks for an overflow itself."""
    scale = nn.DynamicLossScaleUpdateCell(inputs.INITIAL, inputs.FACTOR, inputs.WINDOW)
    step = nn.TrainOneStepWithLossScaleCell(net, optimizer, scale)
    step(ms.Tensor(OVERFLOWING, ms.float32))


def built_with_manager(net: HalfLayer, optimizer: Any) -> None:
    """The training cell that ``Model`` makes of a net when it is given a dynamic manager."""
    manager = DynamicLossScaleManager(inputs.INITIAL, inputs.FACTOR, inputs.WINDOW)
    step = build_train_network(net, optimizer, level="O0", loss_scale_manager=manager)
    step(ms.Tensor(OVERFLOWING, ms.float32))


def gradients_at_the_limit(ask: Ask) -> Found:
    """Float16 gradients that overflow: once the loss is scaled, and behind a loss that is finite."""
    set_style(ask.options["style"], ask.device)
    return Found(
        {
            "scaled": value_and_gradient(scaled_square, inputs.LARGE),
            "unscaled": value_and_gradient(inputs.square, inputs.LARGE),
            "steep": value_and_gradient(inputs.steep, inputs.SMALL),
        }
    )


def scaled_square(x: Any) -> Any:
    """The same, scaled as the guide scales a loss."""
    return inputs.square(x).astype(ms.float32) * inputs.SCALE


def value_and_gradient(function: Any, number: float) -> dict[str, Any]:
    """The value at a number in float16, and its gradient or that it is not finite."""
    found = ms.value_and_grad(function)(ms.Tensor([number], ms.float16))
    value, gradient = (float(part.asnumpy().ravel()[0]) for part in found)
    return {
        "value": value,
        "gradient": gradient if np.isfinite(gradient) else "not finite",
        "value_is_finite": bool(np.isfinite(value)),
    }
