"""Loss scaling in PyTorch, with torch.amp.GradScaler on the CPU."""

import time
from typing import Any

import numpy as np
import torch
from torch.amp import GradScaler

from explorer.engines.torch.net import build
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.loss_scale import inputs
from explorer.topics.scenario_nets import net_request

FLOATS = {name: getattr(torch, name) for name in inputs.DTYPES}


def weighted(weight: Any, activation: Any, slope: Any, scale: Any) -> Any:
    """A layer in the weight's dtype, with the loss and its scale in float32."""
    return ((weight * activation).float() * slope).sum() * scale


def sweep(ask: Ask) -> Found:
    """What becomes of gradients of many magnitudes at scales 2**0 … 2**24, in each float."""
    activations, slopes = (torch.tensor(array, device=ask.device) for array in inputs.spread())
    figures: dict[str, Any] = {}
    timings: dict[str, float] = {}
    for name, dtype in FLOATS.items():
        start = time.perf_counter()
        gradients = []
        for exponent in inputs.EXPONENTS:
            weight = torch.ones_like(activations, dtype=dtype, requires_grad=True)
            loss = weighted(weight, activations.to(dtype), slopes, 2.0**exponent)
            (gradient,) = torch.autograd.grad(loss, weight)
            gradients.append(gradient.float().cpu().numpy())
        figures[name] = inputs.losses_by_scale(gradients)
        timings[name] = time.perf_counter() - start
    return Found(figures, timings)


def guide_example(ask: Ask) -> Found:
    """The guide's net with its loss scaled by 1024, and everything back again."""
    net = build(net_request(ask, "torch-tape"))
    weight = net.state["fc.weight"]
    scaler = GradScaler("cpu", init_scale=1024.0)
    optimizer = sgd(weight)
    loss, _ = net.call(*net.arguments)
    scaled_loss = scaler.scale(loss)
    scaled_loss.backward()
    # unscale_ writes to .grad in place, so the scaled gradient is read before it.
    scaled = {"loss": numbers(scaled_loss), "gradient": numbers(weight.grad)}
    scaler.unscale_(optimizer)
    unscaled_loss = scaled_loss / scaler.get_scale()
    unscaled = {"loss": numbers(unscaled_loss), "gradient": numbers(weight.grad)}
    return Found(
        {
            "scaled": scaled,
            "unscaled": unscaled,
            "all_finite": not found_infinite(scaler, optimizer),
        }
    )


def sgd(*weights: torch.Tensor, rate: float = 0.1) -> torch.optim.SGD:
    """A plain optimizer of ``weights``."""
    return torch.optim.SGD(list(weights), rate)


def found_infinite(scaler: GradScaler, optimizer: torch.optim.Optimizer) -> bool:
    """Whether ``unscale_`` met something that is not finite.

    The scaler keeps it to itself (torch 2.13).
    """
    return any(bool(flag) for flag in scaler._found_inf_per_device(optimizer).values())


def started_scaler(scale: float) -> GradScaler:
    """A scaler that has scaled something: until then it has no scale to take back (torch 2.13)."""
    scaler = GradScaler("cpu", init_scale=scale)
    scaler.scale(torch.zeros(1))
    return scaler


def finiteness(ask: Ask) -> Found:
    """What GradScaler finds in gradients that hold finite numbers, infinities and NaN.

    Gradients in float16 it refuses.
    """
    figures: dict[str, Any] = {}
    for name, dtype in (("float16", torch.float16), ("float32", torch.float32)):
        for case, gradients in inputs.FINITE_CASES.items():
            weights = []
            for gradient in gradients:
                weight = torch.zeros(len(gradient), dtype=dtype, requires_grad=True)
                weight.grad = torch.tensor(gradient, dtype=dtype)
                weights.append(weight)
            scaler = started_scaler(1.0)
            optimizer = sgd(*weights)
            # Works in place: without a refusal the attempt is None.
            refused = attempt(scaler.unscale_, optimizer)
            figures[f"{case}, {name}"] = refused or not found_infinite(scaler, optimizer)
    return Found(figures)


def underflow(ask: Ask) -> Found:
    """One gradient of 1e-8 in each float, with and without scaling.

    Scaled by 65536, and unscaled in that float or in float32.
    """
    figures = {}
    for name, dtype in FLOATS.items():
        plain = tiny_gradient(dtype, 1.0)
        scaled = tiny_gradient(dtype, inputs.TINY_SCALE)
        weight = torch.ones(1, dtype=dtype, requires_grad=True)
        weight.grad = scaled.clone()
        scaler = started_scaler(inputs.TINY_SCALE)
        refused = attempt(scaler.unscale_, sgd(weight))
        figures[name] = {
            "without": numbers(plain)[0],
            "scaled": numbers(scaled)[0],
            "unscaled there": refused or numbers(weight.grad)[0],
            "unscaled in float32": numbers(scaled.float() / inputs.TINY_SCALE)[0],
        }
    return Found(figures)


def tiny_gradient(dtype: torch.dtype, scale: float) -> torch.Tensor:
    """A gradient of 1e-8, made of two factors that float16 can hold, of a loss times ``scale``."""
    weight = torch.ones(1, dtype=dtype, requires_grad=True)
    loss = (weight * 1e-4).float().sum() * 1e-4 * scale
    (gradient,) = torch.autograd.grad(loss, weight)
    return gradient


def life_of_scaler(ask: Ask) -> Found:
    """GradScaler through steps of training: scale, step or skip, update.

    A float16 layer is trained, with a float32 weight.
    """
    weight = torch.ones(1, requires_grad=True)
    optimizer = sgd(weight, rate=0.125)
    scaler = GradScaler(
        "cpu",
        init_scale=inputs.INITIAL,
        growth_factor=float(inputs.FACTOR),
        backoff_factor=1 / inputs.FACTOR,
        growth_interval=inputs.WINDOW,
    )
    turns = []
    for slope in inputs.BATCHES:
        scale = scaler.get_scale()
        weight_before = weight.detach().clone()
        optimizer.zero_grad()
        scaler.scale((weight.half().float() * slope).sum()).backward()
        # Looked at before the step, which unscales and may skip without a word.
        finite = bool(torch.isfinite(weight.grad).all())
        scaler.step(optimizer)
        scaler.update()
        stepped = not torch.equal(weight_before, weight)
        turns.append(inputs.turn(scale, scaler.get_scale(), finite, stepped))
    return Found({"turns": turns, "weight": numbers(weight)[0]})


def limits(ask: Ask) -> Found:
    """How low overflows take the scale of GradScaler, and how high steps without one."""
    figures = {}
    # LIMIT_STEPS halvings of 8 lead below 1, and as many doublings of 2**125 beyond float32.
    for name, initial, slope in (("down", 8.0, float("inf")), ("up", 2.0**125, 0.0)):
        # With an interval of 1 every step without an overflow grows.
        scaler = GradScaler("cpu", init_scale=initial, growth_interval=1)
        weight = torch.ones(1, requires_grad=True)
        optimizer = sgd(weight, rate=0.125)
        scales = [initial]
        for _ in range(inputs.LIMIT_STEPS):
            scaler.scale((weight * slope).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            scales.append(scaler.get_scale())
        figures[name] = scales
    return Found(figures)


def unscaling(ask: Ask) -> Found:
    """How far unscaling a scaled gradient is from the gradient, and what is refused.

    For a power of two and for other scales.
    """
    gradient = inputs.ordinary_gradient()
    errors = {}
    for scale in inputs.SCALES_UNDONE:
        weight = torch.zeros(inputs.COUNT, requires_grad=True)
        scaler = GradScaler("cpu", init_scale=scale)
        optimizer = sgd(weight)
        scaler.scale((weight * torch.tensor(gradient)).sum()).backward()
        scaler.unscale_(optimizer)
        errors[str(scale)] = inputs.greatest_relative_error(weight.grad.numpy(), gradient)
    refused = {
        "unscale_ twice before update": attempt(scaler.unscale_, optimizer),
        "step before any scale": attempt(GradScaler("cpu").step, optimizer),
    }
    return Found({"error": errors, "refused": refused})


def gradients_at_the_limit(ask: Ask) -> Found:
    """Float16 gradients that overflow: once the loss is scaled, and behind a loss that is finite."""
    return Found(
        {
            "scaled": value_and_gradient(scaled_square, inputs.LARGE),
            "unscaled": value_and_gradient(inputs.square, inputs.LARGE),
            "steep": value_and_gradient(inputs.steep, inputs.SMALL),
        }
    )


def scaled_square(x: Any) -> Any:
    """The same, scaled as the guide scales a loss."""
    return inputs.square(x).float() * inputs.SCALE


def value_and_gradient(function: Any, number: float) -> dict[str, Any]:
    """The value at a number in float16, and its gradient or that it is not finite."""
    x = torch.tensor([number], dtype=torch.float16, requires_grad=True)
    total = function(x)
    (slope,) = torch.autograd.grad(total, x)
    value, gradient = float(total), float(slope)
    return {
        "value": value,
        "gradient": gradient if np.isfinite(gradient) else "not finite",
        "value_is_finite": bool(np.isfinite(value)),
    }
