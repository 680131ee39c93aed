"""Layer norm, GELU and cross entropy in MindSpore: which epsilon, which formula, which reduction."""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.operators.data import BATCH, LABELS, LOGITS, POINTS, SMALL_PAIR


def layer_norm_of_a_small_pair(ask: Ask) -> Found:
    """Layer norm of (-0.001, 0.001), whose output shows the epsilon; and batch norm at inference of
    1, with variance 0.
    """
    set_style("tape", ask.device)
    norm = nn.BatchNorm2d(2, moving_var_init="zeros").set_train(False)
    return Found(
        {
            "layer norm": numbers(nn.LayerNorm((2,))(ms.Tensor(SMALL_PAIR)))[0],
            "ops.layer_norm": attempt_briefly(_functional_layer_norm),
            "batch norm of 1": float(norm(ms.Tensor(BATCH * 0 + 1))[0, 0, 0, 0]),
        }
    )


def _functional_layer_norm() -> Any:
    return numbers(ops.layer_norm(ms.Tensor(SMALL_PAIR), (2,), ops.ones(2), ops.zeros(2)))[0]


def gelu(ask: Ask) -> Found:
    """Each GELU and its derivative at points from -4 to 4, in the style asked for."""
    set_style(ask.options["style"], ask.device)
    ways: dict[str, Any] = {
        "nn.GELU()": nn.GELU(),
        "nn.GELU(approximate=False)": nn.GELU(approximate=False),
        "nn.GELU(approximate=True)": nn.GELU(approximate=True),
        "ops.gelu": ops.gelu,
        "ops.gelu(approximate='tanh')": _tanh,
    }
    return Found({name: attempt_briefly(_curve, way) for name, way in ways.items()})


def _tanh(x: Any) -> Any:
    return ops.gelu(x, approximate="tanh")


def _curve(function: Any) -> dict[str, Any]:
    value, slope = ms.value_and_grad(function)(ms.Tensor(POINTS))
    return {"value": numbers(value), "slope": numbers(slope)}


def cross_entropy(ask: Ask) -> Found:
    """Softmax cross entropy of two rows of logits and their labels by each way to ask for it, with
    its gradient.
    """
    set_style(ask.options["style"], ask.device)
    one_hot = ms.Tensor(np.eye(3, dtype=np.float32)[LABELS])
    ways: dict[str, Any] = {
        "nn.SoftmaxCrossEntropyWithLogits()": (nn.SoftmaxCrossEntropyWithLogits(), one_hot),
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True)": (
            nn.SoftmaxCrossEntropyWithLogits(sparse=True),
            ms.Tensor(LABELS),
        ),
        "nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')": (
            nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
            ms.Tensor(LABELS),
        ),
        "nn.CrossEntropyLoss()": (nn.CrossEntropyLoss(), ms.Tensor(LABELS)),
        "ops.cross_entropy": (ops.cross_entropy, ms.Tensor(LABELS)),
        "nn.CrossEntropyLoss() of one-hot labels": (nn.CrossEntropyLoss(), one_hot),
    }
    return Found(
        {
            name: attempt_briefly(_loss, function, labels)
            for name, (function, labels) in ways.items()
        }
    )


def _loss(function: Any, labels: Any) -> dict[str, Any]:
    value, gradient = ms.value_and_grad(function)(ms.Tensor(LOGITS), labels)
    return {"value": numbers(value), "gradient": numbers(gradient)}
