"""The figures of the claims on initial values, and of the study of conventions."""

import math
from typing import Any

import numpy as np


# Rows 49, 50 and 72: initial values of a convolution from 8 to 16 channels (3×3), a dense layer from 64 to
# 48, an LSTM from 40 to 64 and others, by the distributions that the documents give.
def row_72_closed_form() -> dict[str, Any]:
    """The bounds and deviations: U(−√k, √k) with k = 1 / fan in, and Glorot's uniform in Keras."""
    fan_in, fan_out = 8 * 9, 16 * 9
    return {
        "conv": _uniform(1 / np.sqrt(fan_in)),
        "dense": _uniform(1 / np.sqrt(64)),
        "lstm": _uniform(1 / np.sqrt(64)),
        "embedding in MindSpore": 0.01,
        "embedding in PyTorch": 1.0,
        "conv in Keras": _uniform(np.sqrt(6 / (fan_in + fan_out))),
        "dense in Keras": _uniform(np.sqrt(6 / (64 + 48))),
        "embedding in Keras": _uniform(0.05),
        "lstm in Keras": _uniform(np.sqrt(6 / (40 + 4 * 64))),
        # Of four gates, the forget gate's bias starts from 1.
        "lstm bias in Keras": {"minimum": 0.0, "maximum": 1.0, "std": 3**0.5 / 4},
        "scale": _constant(1.0),
        "shift": _constant(0.0),
        "share of zeros": 1.0,
    }


def _uniform(bound: float) -> dict[str, float]:
    """Of numbers that are evenly spread between ±bound."""
    bound = float(bound)
    return {"minimum": -bound, "maximum": bound, "std": bound / 3**0.5}


def _constant(value: float) -> dict[str, float]:
    return {"minimum": value, "maximum": value, "mean": value, "std": 0.0}


def row_72_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """Whether layers have a bias by default."""
    layers = {"conv": ms.nn.Conv2d(1, 1, 1), "dense": ms.nn.Dense(1, 1)}
    return {name: layer.bias is not None for name, layer in layers.items()}


def row_72_in_torch(torch: Any) -> dict[str, Any]:
    """Whether layers have a bias by default."""
    layers = {"conv": torch.nn.Conv2d(1, 1, 1), "dense": torch.nn.Linear(1, 1)}
    return {name: layer.bias is not None for name, layer in layers.items()}


# The study of conventions: settings of layers read from what they compute, and gradients by formula.
SMALL = 1e-3
"""Half the distance of two numbers whose variance is its square: layer norm's ε shows beside it."""


def study_conventions_closed_form() -> dict[str, Any]:
    """What follows from a formula: x = [1, 2], y = [3, 5]."""
    return {
        "by x": [2 * 1 * 3, 2 * 2 * 5],
        "loss and logits": [18 * 1 + 3, 18 * 2 + 3],
        "one of two uses": [1, 2],
        "both uses": [2, 4],
        "second derivative": [6, 12],
        "by z": [2 * 1, 2 * 2],
        "gelu": [0.5 * (1 + math.erf(1 / math.sqrt(2)))],
        "std by n": math.sqrt(1.25),
        "std by n - 1": math.sqrt(5 / 3),
        "momentum": 0.1 * (1 + 0.9),
    }


def study_conventions_in_torch(torch: Any) -> dict[str, Any]:
    """From what PyTorch's layers compute."""
    x = torch.tensor([[-SMALL, SMALL]], dtype=torch.float64)
    norm = torch.nn.LayerNorm(2).double()
    dropped = torch.nn.Dropout(0.3)(torch.ones(100_000)) == 0
    return {
        "layer norm": epsilon(float(norm(x)[0, 1])),
        "dropout": float(dropped.double().mean()),
    }


def study_conventions_in_mindspore_tape(ms: Any) -> dict[str, Any]:
    """From what MindSpore's layers compute."""
    x = ms.Tensor([[-SMALL, SMALL]], ms.float32)
    dropout = ms.nn.Dropout(0.3)
    dropout.set_train()
    dropped = dropout(ms.ops.ones(100_000)).asnumpy() == 0
    return {
        "layer norm": epsilon(float(ms.nn.LayerNorm((2,))(x).asnumpy()[0, 1])),
        "dropout": float(dropped.mean()),
    }


def epsilon(output: float) -> float:
    """The ε that layer norm adds to the variance SMALL² of an element SMALL that becomes ``output``."""
    return (SMALL / output) ** 2 - SMALL**2
