"""ReLU at 0 written four ways, and the greatest of [3, 3, 1] three ways: the gradient of each."""

import mindspore as ms
import numpy as np
import torch
from mindspore import ops

ZERO = np.zeros(1, np.float32)
TIED = np.array([3.0, 3.0, 1.0], np.float32)


# A net is compiled from its source text: each is a function of its own.
def relu(x):
    return ops.relu(x).sum()


def maximum(x):
    return ops.maximum(x, ops.zeros_like(x)).sum()


def clamp(x):
    return ops.clamp(x, min=0).sum()


def largest(x):
    return x.max()


def largest_with_index(x):
    return ops.max(x, 0)[0]


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    for net in (relu, maximum, clamp):
        print(f"MindSpore, {net.__name__}:", ms.grad(net)(ms.Tensor(ZERO)))
    for net in (largest, largest_with_index):
        print(f"MindSpore, {net.__name__}:", ms.grad(net)(ms.Tensor(TIED)))

    zero, tied = torch.tensor(ZERO, requires_grad=True), torch.tensor(TIED, requires_grad=True)
    outputs = {
        "relu": (torch.relu(zero).sum(), zero),
        "maximum": (torch.maximum(zero, torch.zeros(1)).sum(), zero),
        "clamp": (torch.clamp(zero, min=0).sum(), zero),
        "largest": (tied.max(), tied),
        "largest_with_index": (tied.max(0).values, tied),
    }
    for name, (output, leaf) in outputs.items():
        print(f"PyTorch, {name}:", torch.autograd.grad(output, leaf)[0].numpy())


if __name__ == "__main__":
    main()
