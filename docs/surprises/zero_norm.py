"""The gradient of the norm of zeros, and of the deviation of equal numbers."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

ZEROS = np.zeros(2, np.float32)


def norm(x):
    return ops.norm(x)


def guarded(x):
    return ops.sqrt((x * x).sum() + 1e-12)


def deviation(x):
    return ops.std(x)


def main():
    for style, mode in (("tape", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE)):
        ms.set_context(mode=mode)
        print(f"MindSpore, {style}:", ms.grad(norm)(ms.Tensor(ZEROS)))
        print(f"MindSpore, {style}, with 1e-12 added:", ms.grad(guarded)(ms.Tensor(ZEROS)))
        print(f"MindSpore, {style}, deviation:", ms.grad(deviation)(ms.Tensor(ZEROS)))
    print("PyTorch:", torch.func.grad(torch.norm)(torch.tensor(ZEROS)).numpy())
    print("PyTorch, deviation:", torch.func.grad(torch.std)(torch.tensor(ZEROS)).numpy())


if __name__ == "__main__":
    main()
