"""The gradient of the norm of zeros, of the deviation of equal numbers, and of atan2 at the origin."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

ZEROS = np.zeros(2, np.float32)
SMALL = np.full(2, 2e-3, np.float16)
"""Numbers whose squares have no inverse in float16: it is above 65504."""


def norm(x):
    return ops.norm(x)


def guarded(x):
    return ops.sqrt((x * x).sum() + 1e-12)


def deviation(x):
    return ops.std(x)


def angle(y, x):
    return ops.atan2(y, x).sum()


def torch_angle(y, x):
    return torch.atan2(y, x).sum()


def main():
    zeros, small = ms.Tensor(ZEROS), ms.Tensor(SMALL)
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        print(f"MindSpore, {style}:", ms.grad(norm)(zeros))
        print(f"MindSpore, {style}, with 1e-12 added:", ms.grad(guarded)(zeros))
        print(f"MindSpore, {style}, deviation:", ms.grad(deviation)(zeros))
        print(f"MindSpore, {style}, atan2:", ms.grad(angle)(zeros, zeros))
        print(f"MindSpore, {style}, atan2 of 0.002 in float16:", ms.grad(angle)(small, small))
    zeros, small = torch.tensor(ZEROS), torch.tensor(SMALL)
    print("PyTorch:", torch.func.grad(torch.norm)(zeros).numpy())
    print("PyTorch, deviation:", torch.func.grad(torch.std)(zeros).numpy())
    print("PyTorch, atan2:", torch.func.grad(torch_angle)(zeros, zeros).numpy())
    small_gradient = torch.func.grad(torch_angle)(small, small)
    print("PyTorch, atan2 of 0.002 in float16:", small_gradient.numpy())


if __name__ == "__main__":
    main()
