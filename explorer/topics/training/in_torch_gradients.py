"""What PyTorch does to gradients between the backward pass and the update: clipping, and adding up
micro-batches.
"""

import inspect
from typing import Any

import torch
from torch import nn

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_torch import numbers
from explorer.topics.training.in_torch_nets import Net, fresh_net
from explorer.topics.training.inputs import BATCH, MICRO_BATCHES, batches


def clipping(ask: Ask) -> Found:
    """Gradients clipped by their global norm and by value; the clipping changes ``.grad`` in place
    and returns the norm.
    """

    def by_norm(norm: float) -> Any:
        weights = _weights_with_gradients(ask)
        returned = nn.utils.clip_grad_norm_(weights, norm)
        return {
            "gradients": [numbers(weight.grad) for weight in weights],
            "returned": returned.item(),
        }

    def by_value(value: float) -> Any:
        weights = _weights_with_gradients(ask)
        nn.utils.clip_grad_value_(weights, value)
        return [numbers(weight.grad) for weight in weights]

    # max_norm has no default in PyTorch 2.13.0; a later version may give it one.
    default = inspect.signature(nn.utils.clip_grad_norm_).parameters["max_norm"].default
    return Found(
        {
            "default": None if default is inspect.Parameter.empty else default,
            "by norm": {str(norm): attempt(by_norm, norm) for norm in ask.options["norms"]},
            "by value": by_value(ask.options["value"]),
        }
    )


def _weights_with_gradients(ask: Ask) -> list[Any]:
    weights = []
    for gradient in ask.options["gradients"]:
        weight = torch.zeros(len(gradient), device=ask.device, requires_grad=True)
        weight.grad = torch.tensor(gradient, dtype=torch.float32, device=ask.device)
        weights.append(weight)
    return weights


def accumulation(ask: Ask) -> Found:
    """The gradient of a batch of eight, and of its four micro-batches as ``backward`` adds them up:
    with a mean, and a sum.
    """
    return Found({reduction: _accumulated(ask, reduction) for reduction in ("mean", "sum")})


def _accumulated(ask: Ask, reduction: str) -> dict[str, Any]:
    net = fresh_net(ask.device)
    net.norm.train(ask.options["norm_in_training"])
    ((pictures, targets),) = batches(1, BATCH)
    x, y = torch.from_numpy(pictures).to(ask.device), torch.from_numpy(targets).to(ask.device)
    nn.functional.mse_loss(net(x), y, reduction=reduction).backward()
    whole = _gradients(net)

    # backward adds to .grad, so that nothing needs to be kept between the parts.
    net.zero_grad()
    parts = zip(x.chunk(MICRO_BATCHES), y.chunk(MICRO_BATCHES), strict=True)
    for part, target in parts:
        nn.functional.mse_loss(net(part), target, reduction=reduction).backward()
    added = _gradients(net)
    for weight in net.parameters():
        weight.grad /= MICRO_BATCHES
    return {"whole": whole, "added": added, "divided": _gradients(net)}


def _gradients(net: Net) -> dict[str, Any]:
    return {name: numbers(weight.grad) for name, weight in net.named_parameters()}
