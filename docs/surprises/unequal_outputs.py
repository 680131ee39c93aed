"""A function of nine equal numbers, in single precision."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops
from torch.nn import functional

POINTS = {"softplus": -14.0, "logsigmoid": 14.0, "elu": -1e-5}


def softplus(x):
    # Not of -abs(x), whose gradient at 0 is 0.
    small = ops.exp(ops.where(x > 0, -x, x))
    return ops.relu(x) + 2 * ops.atanh(small / (2 + small))


def logsigmoid(x):
    return -softplus(-x)


def elu(x):
    # Where it is not used it must be finite too: its gradient would be nan, and not left out.
    low = ops.where(x > 0, ops.zeros_like(x), ops.clamp(x, -30.0))
    return ops.where(x > 0, x, 2 * ops.sinh(low / 2) * ops.exp(low / 2))


OTHERWISE = {
    "softplus": softplus,
    "logsigmoid": logsigmoid,
    "elu": elu,
}


def shown(values):
    different, counts = np.unique(values.numpy(), return_counts=True)
    pairs = zip(counts, different, strict=True)
    return ", ".join(f"{count} times {value:.4e}" for count, value in pairs)


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        for name, point in POINTS.items():
            x = ms.Tensor(np.full(9, point, np.float32))
            label = f"MindSpore, {style}, {name}({point:g})"
            print(f"{label}: {shown(getattr(ops, name)(x))}")
            print(f"{label} otherwise: {shown(OTHERWISE[name](x))}")
    for name, point in POINTS.items():
        values = getattr(functional, name)(torch.full((9,), point))
        print(f"PyTorch, {name}({point:g}): {shown(values)}")


if __name__ == "__main__":
    main()
