"""Causal attention, each net with a mask of its own; the port forgets the scale."""

import numpy as np


def inputs():
    rng = np.random.default_rng(0)
    return {
        "q": rng.standard_normal((1, 3, 4)).astype(np.float32),
        "k": rng.standard_normal((1, 3, 4)).astype(np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bias = ms.Tensor(np.triu(np.full((3, 3), -1e4, np.float32), 1))

        def construct(self, q, k):
            scores = ops.matmul(q, k.swapaxes(-1, -2))
            return (ops.softmax(scores + self.bias, -1) ** 2).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("visible", torch.tril(torch.ones(3, 3)))

        def forward(self, q, k):
            scores = q @ k.transpose(-1, -2) * 0.5
            scores = scores.masked_fill(self.visible == 0, -1e4)
            return (scores.softmax(-1) ** 2).sum()

    return Net()
