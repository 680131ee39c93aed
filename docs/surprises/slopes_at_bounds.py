"""Gradients at the two bounds of bounded activations, and of the infinity norm of tied numbers."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

BOUNDS = {"relu6": (0.0, 6.0), "hardtanh": (-1.0, 1.0), "hardswish": (-3.0, 3.0)}
TIED = np.array([3.0, -3.0, 1.0], np.float32)


def infinity_norm(x):
    return ops.norm(x, float("inf"))


def greatest(x):
    return ops.abs(x).max()


def torch_norm(x):
    return torch.linalg.vector_norm(x, float("inf"))


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        for name, bounds in BOUNDS.items():
            slopes = ms.grad(getattr(ops, name))(ms.Tensor(bounds))
            print(f"MindSpore, {style}, {name} at {bounds[0]:g} and {bounds[1]:g}:", slopes)
        print(f"MindSpore, {style}, infinity norm:", ms.grad(infinity_norm)(ms.Tensor(TIED)))
        print(f"MindSpore, {style}, abs(x).max():", ms.grad(greatest)(ms.Tensor(TIED)))
    for name, bounds in BOUNDS.items():
        x = torch.tensor(bounds, requires_grad=True)
        getattr(torch.nn.functional, name)(x).sum().backward()
        print(f"PyTorch, {name} at {bounds[0]:g} and {bounds[1]:g}:", x.grad.numpy())
    print("PyTorch, infinity norm:", torch.func.grad(torch_norm)(torch.tensor(TIED)).numpy())


if __name__ == "__main__":
    main()
