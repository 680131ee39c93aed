"""Layer norm, GELU and cross entropy in PyTorch: which epsilon, which formula, which reduction."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_torch import numbers
from explorer.topics.operators.data import BATCH, LABELS, LOGITS, POINTS, SMALL_PAIR
from explorer.topics.operators.in_torch_styles import placed, styled


@placed
def layer_norm_of_a_small_pair(ask: Ask) -> Found:
    """Layer norm of (-0.001, 0.001), whose output shows the epsilon; and batch norm at inference of
    1, with variance 0.
    """
    norm = nn.BatchNorm2d(2).eval()
    norm.running_var.zero_()
    return Found(
        {
            "layer norm": numbers(nn.LayerNorm(2)(torch.tensor(SMALL_PAIR)))[0],
            "functional.layer_norm": numbers(functional.layer_norm(torch.tensor(SMALL_PAIR), (2,)))[
                0
            ],
            "batch norm of 1": float(norm(torch.tensor(BATCH * 0 + 1))[0, 0, 0, 0]),
        }
    )


@placed
def gelu(ask: Ask) -> Found:
    """Each GELU and its derivative at points from -4 to 4, in the style asked for."""
    ways: dict[str, Any] = {
        "nn.GELU()": nn.GELU(),
        "nn.GELU(approximate='tanh')": nn.GELU(approximate="tanh"),
        "functional.gelu": functional.gelu,
    }
    return Found(
        {
            name: attempt_briefly(_curve, styled(way, ask.options["style"]))
            for name, way in ways.items()
        }
    )


def _curve(function: Any) -> dict[str, Any]:
    points = torch.tensor(POINTS, requires_grad=True)
    value = function(points)
    (slope,) = torch.autograd.grad(value.sum(), points)
    return {"value": numbers(value), "slope": numbers(slope)}


@placed
def cross_entropy(ask: Ask) -> Found:
    """Softmax cross entropy of two rows of logits and their labels by each way to ask for it, with
    its gradient.
    """
    labels = torch.tensor(LABELS, dtype=torch.long)
    one_hot = functional.one_hot(labels, 3).float()
    ways: dict[str, Any] = {
        "nn.CrossEntropyLoss()": (nn.CrossEntropyLoss(), labels),
        "nn.CrossEntropyLoss(reduction='none')": (nn.CrossEntropyLoss(reduction="none"), labels),
        "nn.CrossEntropyLoss() of one-hot labels": (nn.CrossEntropyLoss(), one_hot),
        "functional.cross_entropy": (functional.cross_entropy, labels),
    }
    return Found(
        {
            name: attempt_briefly(_loss, styled(function, ask.options["style"]), given)
            for name, (function, given) in ways.items()
        }
    )


def _loss(function: Any, labels: torch.Tensor) -> dict[str, Any]:
    logits = torch.tensor(LOGITS, requires_grad=True)
    value = function(logits, labels)
    (gradient,) = torch.autograd.grad(value.sum(), logits)
    return {"value": numbers(value), "gradient": numbers(gradient)}
