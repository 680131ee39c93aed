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
from explorer.topics.training.given import batches
from explorer.topics.training.in_torch_nets import Net, fresh


def clipping(ask: Ask) -> Found:
    """Gradients clipped by their global norm and by value; the clipping changes ``.grad`` in place
    and returns the norm.
    """

    def clipped(norm: float) -> Any:
        weights = _weights(ask)
        returned = nn.utils.clip_grad_norm_(weights, norm)
        return {
            "gradients": [numbers(weight.grad) for weight in weights],
            "returned": returned.item(),
        }

    def by_value(value: float) -> Any:
        weights = _weights(ask)
        nn.utils.clip_grad_value_(weights, value)
        return [numbers(weight.grad) for weight in weights]

    default = inspect.signature(nn.utils.clip_grad_norm_).parameters["max_norm"].default
    return Found(
        {
            "default": None if default is inspect.Parameter.empty else default,
            "by norm": {str(norm): attempt(clipped, norm) for norm in ask.options["norms"]},
            "by value": by_value(ask.options["value"]),
        }
    )


def _weights(ask: Ask) -> list[Any]:
    made = [
        torch.zeros(len(each), device=ask.device, requires_grad=True)
        for each in ask.options["gradients"]
    ]
    for weight, gradient in zip(made, ask.options["gradients"], strict=True):
        weight.grad = torch.tensor(gradient, dtype=torch.float32, device=ask.device)
    return made


def accumulation(ask: Ask) -> Found:
    """The gradient of a batch of eight, and of its four micro-batches as ``backward`` adds them up:
    with a mean, and a sum.
    """
    return Found(
        {kind: _accumulated(ask, kind, count) for kind, count in (("mean", 4), ("sum", 4))}
    )


def _accumulated(ask: Ask, kind: str, count: int) -> dict[str, Any]:
    net = fresh(ask.device)
    net.norm.train(ask.options["norm_in_training"])
    ((pictures, targets),) = batches(1, 8)
    x, y = torch.from_numpy(pictures).to(ask.device), torch.from_numpy(targets).to(ask.device)
    nn.functional.mse_loss(net(x), y, reduction=kind).backward()
    whole = _gradients(net)
    net.zero_grad()
    for part, aim in zip(x.chunk(count), y.chunk(count), strict=True):
        nn.functional.mse_loss(net(part), aim, reduction=kind).backward()
    added = _gradients(net)
    for weight in net.parameters():
        weight.grad /= count
    return {"whole": whole, "added": added, "divided": _gradients(net)}


def _gradients(net: Net) -> dict[str, Any]:
    return {name: numbers(weight.grad) for name, weight in net.named_parameters()}
