"""The second derivative of (Σx)³ by nested gradients: 6·Σx for each element, and n times that summed."""

import mindspore as ms
import numpy as np
import torch

X = np.array([1.0, 2.0], np.float32)


def cube(x):
    return x.sum() ** 3


def slope(x):
    return ms.grad(cube)(x).sum()


@ms.jit
def jitted(x):
    return ms.grad(slope)(x)


def torch_slope(x):
    return torch.func.grad(cube)(x).sum()


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    print("MindSpore, tape:", ms.grad(slope)(ms.Tensor(X)))
    print("MindSpore, tape, under ms.jit:", jitted(ms.Tensor(X)))
    ms.set_context(mode=ms.GRAPH_MODE)
    print("MindSpore, graph:", ms.grad(slope)(ms.Tensor(X)))
    print("PyTorch:", torch.func.grad(torch_slope)(torch.tensor(X)).numpy())


if __name__ == "__main__":
    main()
