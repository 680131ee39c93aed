"""Functions that are there to keep small numbers exact, in single precision."""

import math

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

POINTS = {"log1p": 1e-6, "expm1": 1e-6, "logsigmoid": 18.0}
EXPECTED = {
    "log1p": math.log1p,
    "expm1": math.expm1,
    "logsigmoid": lambda x: -math.log1p(math.exp(-x)),
}
SLOPES = {
    "log1p": lambda x: 1 / (1 + x),
    "expm1": math.exp,
    "logsigmoid": lambda x: 1 / (1 + math.exp(x)),
}


def log1p_otherwise(x):
    return 2 * ops.atanh(x / (2 + x))


def expm1_otherwise(x):
    return 2 * ops.sinh(x / 2) * ops.exp(x / 2)


def logsigmoid_otherwise(x):
    # Not of -abs(x), whose gradient at 0 is 0.
    return -ops.relu(-x) - log1p_otherwise(ops.exp(ops.where(x < 0, x, -x)))


OTHERWISE = {
    "log1p": log1p_otherwise,
    "expm1": expm1_otherwise,
    "logsigmoid": logsigmoid_otherwise,
}


def shown(name, function, gradient, x):
    point = float(np.float32(POINTS[name]))
    value, slope = function(x).item(), gradient(x).item()
    error, slope_error = value / EXPECTED[name](point) - 1, slope / SLOPES[name](point) - 1
    return f"{value:.5e}, off by {abs(error):.0e}, its gradient by {abs(slope_error):.0e}"


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        for name, point in POINTS.items():
            x = ms.Tensor([point], ms.float32)
            label = f"MindSpore, {style}, {name}({point:g})"
            for words, function in (("", getattr(ops, name)), (" otherwise", OTHERWISE[name])):
                print(f"{label}{words}: {shown(name, function, ms.grad(function), x)}")
    for name, point in POINTS.items():
        function = getattr(torch if hasattr(torch, name) else torch.nn.functional, name)
        gradient = torch.func.grad(function)
        print(f"PyTorch, {name}({point:g}): {shown(name, function, gradient, torch.tensor(point))}")


if __name__ == "__main__":
    main()
