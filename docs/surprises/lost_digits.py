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


def log1p_otherwise(x):
    return 2 * ops.atanh(x / (2 + x))


OTHERWISE = {
    "log1p": log1p_otherwise,
    "expm1": lambda x: 2 * ops.sinh(x / 2) * ops.exp(x / 2),
    "logsigmoid": lambda x: -ops.relu(-x) - log1p_otherwise(ops.exp(-ops.abs(x))),
}


def shown(name, value):
    right = EXPECTED[name](float(np.float32(POINTS[name])))
    return f"{value.item():.5e}, off by {abs(value.item() / right - 1):.0e}"


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        for name, point in POINTS.items():
            x = ms.Tensor([point], ms.float32)
            label = f"MindSpore, {style}, {name}({point:g})"
            print(f"{label}: {shown(name, getattr(ops, name)(x))}")
            print(f"{label} otherwise: {shown(name, OTHERWISE[name](x))}")
    for name, point in POINTS.items():
        function = getattr(torch if hasattr(torch, name) else torch.nn.functional, name)
        print(f"PyTorch, {name}({point:g}): {shown(name, function(torch.tensor([point])))}")


if __name__ == "__main__":
    main()
