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
from explorer.topics.loss_scale import given
from explorer.topics.starting_values import net_request

FLOATS = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}


def weighted(weight: Any, activation: Any, slope: Any, scale: Any) -> Any:
    """A layer in the weight's dtype, with the loss and its scale in float32."""
    return ((weight * activation).float() * slope).sum() * scale


def sweep(ask: Ask) -> Found:
    """What becomes of gradients of many magnitudes at scales 2**0 … 2**24, in each float."""
    activations, slopes = (torch.tensor(each, device=ask.device) for each in given.spread())
    figures, timings = {}, {}
    for name, dtype in FLOATS.items():
        start, gradients = time.perf_counter(), []
        for exponent in given.EXPONENTS:
            weight = torch.ones_like(activations, dtype=dtype, requires_grad=True)
            loss = weighted(weight, activations.to(dtype), slopes, 2.0**exponent)
            gradients.append(torch.autograd.grad(loss, weight)[0].float().cpu().numpy())
        figures[name] = given.losses(gradients)
        timings[name] = time.perf_counter() - start
    return Found(figures, timings)


def guide_example(ask: Ask) -> Found:
    """The guide's net with its loss scaled by 1024, and everything back again."""
    net = build(net_request(ask, "torch-tape"))
    weight = net.state["fc.weight"]
    scaler, optimizer = GradScaler("cpu", init_scale=1024.0), torch.optim.SGD([weight], 0.1)
    loss, _ = net.call(*net.arguments)
    scaled = scaler.scale(loss)
    scaled.backward()
    figures: dict[str, Any] = {
        "scaled": {"loss": numbers(scaled), "gradient": numbers(weight.grad)}
    }
    scaler.unscale_(optimizer)
    figures["unscaled"] = {
        "loss": numbers(scaled / scaler.get_scale()),
        "gradient": numbers(weight.grad),
    }
    return Found({**figures, "all_finite": not found_infinite(scaler, optimizer)})


def found_infinite(scaler: GradScaler, optimizer: torch.optim.Optimizer) -> bool:
    """Whether ``unscale_`` met something that is not finite: the scaler keeps it to itself (torch
    2.13).
    """
    return any(bool(found) for found in scaler._found_inf_per_device(optimizer).values())


def finiteness(ask: Ask) -> Found:
    """What GradScaler finds in gradients that hold finite numbers, infinities and NaN; float16
    gradients it refuses.
    """
    figures: dict[str, Any] = {}
    for name, dtype in (("float16", torch.float16), ("float32", torch.float32)):
        for case, values in given.FINITE_CASES.items():
            weights = [torch.zeros(len(each), dtype=dtype, requires_grad=True) for each in values]
            for weight, value in zip(weights, values, strict=True):
                weight.grad = torch.tensor(value, dtype=dtype)
            scaler, optimizer = GradScaler("cpu", init_scale=1.0), torch.optim.SGD(weights, 0.1)
            scaler.scale(torch.zeros(1))
            refused = attempt(scaler.unscale_, optimizer)
            figures[f"{case}, {name}"] = refused or not found_infinite(scaler, optimizer)
    return Found(figures)


def underflow(ask: Ask) -> Found:
    """One gradient of 1e-8 in each float: without scaling, scaled by 65536, and unscaled in that
    float or in float32.
    """
    figures = {}
    for name, dtype in FLOATS.items():
        made = []
        for scale in (1.0, 65536.0):
            weight = torch.ones(1, dtype=dtype, requires_grad=True)
            ((weight * 1e-4).float().sum() * 1e-4 * scale).backward()
            made.append(weight.grad)
        plain, scaled = made
        weight.grad = scaled.clone()
        optimizer, scaler = torch.optim.SGD([weight], 0.1), GradScaler("cpu", init_scale=65536.0)
        scaler.scale(torch.zeros(1))
        refused = attempt(scaler.unscale_, optimizer)
        figures[name] = {
            "without": numbers(plain)[0],
            "scaled": numbers(scaled)[0],
            "unscaled there": refused or numbers(weight.grad)[0],
            "unscaled in float32": numbers(scaled.float() / 65536.0)[0],
        }
    return Found(figures)


def life(ask: Ask) -> Found:
    """GradScaler through steps of training a float16 layer with a float32 weight: scale, step or
    skip, update.
    """
    weight = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.125)
    scaler = GradScaler(
        "cpu",
        init_scale=given.INITIAL,
        growth_factor=float(given.FACTOR),
        backoff_factor=1 / given.FACTOR,
        growth_interval=given.WINDOW,
    )
    turns = []
    for slope in given.BATCHES:
        scale, before = scaler.get_scale(), weight.detach().clone()
        optimizer.zero_grad()
        scaler.scale((weight.half().float() * slope).sum()).backward()
        finite = bool(torch.isfinite(weight.grad).all())
        scaler.step(optimizer)
        scaler.update()
        turns.append(given.turn(scale, scaler.get_scale(), finite, not torch.equal(before, weight)))
    return Found({"turns": turns, "weight": numbers(weight)[0]})


def limits(ask: Ask) -> Found:
    """How low overflow after overflow takes the scale of GradScaler, and how high steps without
    one.
    """
    found = {}
    for name, initial, value in (("down", 8.0, float("inf")), ("up", 2.0**125, 0.0)):
        scaler, scales = GradScaler("cpu", init_scale=initial, growth_interval=1), [initial]
        weight = torch.ones(1, requires_grad=True)
        optimizer = torch.optim.SGD([weight], 0.125)
        for _ in range(7):
            scaler.scale((weight * value).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            scales.append(scaler.get_scale())
        found[name] = scales
    return Found(found)


def unscaling(ask: Ask) -> Found:
    """How far unscaling a scaled gradient is from the gradient, for a power of two and for other
    scales; what is refused.
    """
    gradient, errors = given.gradient(), {}
    for scale in given.SCALES_UNDONE:
        weight = torch.zeros(given.COUNT, requires_grad=True)
        scaler, optimizer = GradScaler("cpu", init_scale=scale), torch.optim.SGD([weight], 0.1)
        scaler.scale((weight * torch.tensor(gradient)).sum()).backward()
        scaler.unscale_(optimizer)
        errors[str(scale)] = float(
            np.max(np.abs(weight.grad.numpy() - gradient) / np.abs(gradient))
        )
    refused = {
        "unscale_ twice before update": attempt(scaler.unscale_, optimizer),
        "step before any scale": attempt(GradScaler("cpu").step, optimizer),
    }
    return Found({"error": errors, "refused": refused})
