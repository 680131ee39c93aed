"""Loss scaling in MindSpore, measured in graph and tape style."""

import time
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.amp import DynamicLossScaler, StaticLossScaler, all_finite

from explorer.engines.mindspore.net import build
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.loss_scale import given
from explorer.topics.starting_values import net_request

FLOATS = {"float16": ms.float16, "bfloat16": ms.bfloat16, "float32": ms.float32}


def weighted(weight: Any, activation: Any, slope: Any, scale: Any) -> Any:
    """A layer in the weight's dtype, with the loss and its scale in float32."""
    return ((weight * activation).astype(ms.float32) * slope).sum() * scale


def sweep(ask: Ask) -> Found:
    """What becomes of gradients of many magnitudes at scales 2**0 … 2**24, in each float."""
    set_style(ask.options["style"], ask.device)
    activations, slopes = given.spread()
    gradient_of, figures, timings = ms.grad(weighted), {}, {}
    for name, dtype in FLOATS.items():
        start = time.perf_counter()
        weight, activation = (
            ms.Tensor(each).astype(dtype) for each in (np.ones_like(activations), activations)
        )
        gradients = [
            gradient_of(weight, activation, ms.Tensor(slopes), ms.Tensor(np.float32(2.0**exponent)))
            for exponent in given.EXPONENTS
        ]
        figures[name] = given.losses([each.astype(ms.float32).asnumpy() for each in gradients])
        timings[name] = time.perf_counter() - start
    return Found(figures, timings)


def guide_example(ask: Ask) -> Found:
    """The guide's net with its loss scaled by 1024, and everything back again."""
    net = build(net_request(ask, f"mindspore-{ask.options['style']}"))
    call, scaler = net.call, StaticLossScaler(1024)

    def forward(x: Any, y: Any) -> Any:
        loss, logits = call(x, y)
        return scaler.scale(loss), logits

    (loss, _), gradients = ms.value_and_grad(forward, None, net.weights, has_aux=True)(
        *net.arguments
    )
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
    """What ``all_finite`` says of gradients that hold finite numbers, infinities and NaN, in two
    floats.
    """
    set_style(ask.options["style"], ask.device)
    figures = {}
    for dtype in ("float16", "float32"):
        for name, (first, second) in given.FINITE_CASES.items():
            gradients = (ms.Tensor(np.array(first, dtype)), ms.Tensor(np.array(second, dtype)))
            figures[f"{name}, {dtype}"] = bool(all_finite(gradients))
    return Found(figures)


def halved(weight: Any, scale: Any) -> Any:
    """A slope of 1e-8, made of two factors that float16 can hold."""
    return (weight * 1e-4).astype(ms.float32).sum() * 1e-4 * scale


def underflow(ask: Ask) -> Found:
    """One gradient of 1e-8 in each float: without scaling, scaled by 65536, and unscaled in that
    float or in float32.
    """
    set_style(ask.options["style"], ask.device)
    scaler, figures = StaticLossScaler(65536), {}
    for name, dtype in FLOATS.items():
        weight = ms.Tensor(np.ones(1, np.float32)).astype(dtype)
        plain, scaled = (
            ms.grad(halved)(weight, ms.Tensor(scale, ms.float32)) for scale in (1.0, 65536.0)
        )
        figures[name] = {
            "without": numbers(plain)[0],
            "scaled": numbers(scaled)[0],
            "unscaled there": numbers(scaler.unscale((scaled,))[0])[0],
            "unscaled in float32": numbers(scaler.unscale((scaled.astype(ms.float32),))[0])[0],
        }
    return Found(figures)


def life(ask: Ask) -> Found:
    """DynamicLossScaler through steps of training a float16 layer with a float32 weight: scale,
    step or skip, adjust.
    """
    set_style(ask.options["style"], ask.device)
    weight = ms.Parameter(ms.Tensor([1.0], ms.float32), name="weight")
    scaler = DynamicLossScaler(given.INITIAL, given.FACTOR, given.WINDOW)
    optimizer = nn.SGD([weight], 0.125)

    def forward(slope: Any) -> Any:
        return scaler.scale((weight.astype(ms.float16).astype(ms.float32) * slope).sum())

    step, turns = ms.value_and_grad(forward, None, optimizer.parameters), []
    for slope in given.BATCHES:
        scale, before = float(scaler.scale_value.asnumpy()), weight.asnumpy().copy()
        _, gradients = step(ms.Tensor(slope, ms.float32))
        gradients = scaler.unscale(gradients)
        finite = all_finite(gradients)
        if finite:
            optimizer(gradients)
        scaler.adjust(finite)
        moved = not np.array_equal(before, weight.asnumpy())
        turns.append(given.turn(scale, float(scaler.scale_value.asnumpy()), bool(finite), moved))
    return Found({"turns": turns, "weight": numbers(weight)[0]})


def limits(ask: Ask) -> Found:
    """How low overflow after overflow takes the scale of DynamicLossScaler, and how high steps
    without one.
    """
    set_style(ask.options["style"], ask.device)
    found = {}
    for name, initial, finite in (("down", 8.0, False), ("up", 2.0**125, True)):
        scaler, scales = DynamicLossScaler(initial, 2, 1), [initial]
        for _ in range(7):
            scaler.adjust(ms.Tensor(finite))
            scales.append(float(scaler.scale_value.asnumpy()))
        found[name] = scales
    return Found(found)


def unscaling(ask: Ask) -> Found:
    """How far unscale(scale(gradient)) is from the gradient, for a power of two and for other
    scales; what scalers refuse.
    """
    set_style(ask.options["style"], ask.device)
    gradient, errors = given.gradient(), {}
    for scale in given.SCALES_UNDONE:
        scaler = StaticLossScaler(scale)
        back = scaler.unscale(scaler.scale(ms.Tensor(gradient))).asnumpy()
        errors[str(scale)] = float(np.max(np.abs(back - gradient) / np.abs(gradient)))
    refused = {
        "a scale below 1": attempt(StaticLossScaler, 0.5),
        "a factor that is no integer": attempt(DynamicLossScaler, 1024.0, 1.5, 3),
    }
    return Found({"error": errors, "refused": refused})
