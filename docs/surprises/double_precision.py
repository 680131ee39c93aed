"""A Python number beside a float64 tensor."""

import mindspore as ms
import numpy as np
import torch


def tenth(x):
    return (x * 0.1).sum()


def eighth(x):
    return (x * 0.125).sum()


def main():
    ones = np.ones(1)
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        for name, function in (("x * 0.1", tenth), ("x * 0.125", eighth)):
            value, gradient = ms.value_and_grad(function)(ms.Tensor(ones))
            numbers = f"{value.asnumpy():.17f} {gradient.asnumpy()[0]:.17f}"
            print(f"MindSpore, {style}, {name}:", numbers, gradient.dtype)
    tensor = torch.tensor(ones, requires_grad=True)
    (gradient,) = torch.autograd.grad(tenth(tensor), tensor)
    print(f"PyTorch, x * 0.1: {tenth(tensor).item():.17f} {gradient.item():.17f}", gradient.dtype)


if __name__ == "__main__":
    main()
