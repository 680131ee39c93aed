"""The derivative of x⁰ at 0 by the base: 0 of a constant 1, or 0 · 0⁻¹, which is no number."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

X = np.array([0.0, 2.0], np.float32)


def power(x):
    return x**0.0


def guarded(x):
    return ops.where(x == 0, ops.ones_like(x), ops.where(x == 0, ops.ones_like(x), x) ** 0.0)


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        for name, function in (("x**0", power), ("x**0 where x is not 0", guarded)):
            value, gradient = ms.value_and_grad(function)(ms.Tensor(X))
            print(f"MindSpore, {style}, {name}:", value, gradient)
    x = torch.tensor(X, requires_grad=True)
    value = power(x)
    value.sum().backward()
    print("PyTorch, x**0:", value.detach().numpy(), x.grad.numpy())


if __name__ == "__main__":
    main()
