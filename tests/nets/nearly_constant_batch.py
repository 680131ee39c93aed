"""A batch norm over inputs that are nearly constant: rounding is most of what it normalises."""

import numpy as np

TRAIN = True

LEVEL, SPREAD = 100.0, 0.01
"""The mean of the inputs, of which float32 keeps 7e-6, and how far they are spread about it."""


def inputs():
    drawn = np.random.default_rng(2).standard_normal((16, 4))
    return {"x": (LEVEL + SPREAD * drawn).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(4, eps=1e-9)

        def construct(self, x):
            normalised = self.bn(x)
            return ops.tanh(normalised).square().sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(4, eps=1e-9)

        def forward(self, x):
            normalised = self.bn(x)
            return torch.tanh(normalised).square().sum()

    return Net()
