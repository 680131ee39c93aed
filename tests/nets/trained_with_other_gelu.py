"""A net whose activation has another formula in MindSpore."""

import numpy as np

OUTPUTS = ("loss",)
TRAIN = True


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(8, 5)).astype(np.float32),
        "y": random.normal(size=(8, 1)).astype(np.float32),
    }


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(5, 6)
            self.norm = nn.BatchNorm1d(6)
            self.fc2 = nn.Linear(6, 1)

        def forward(self, x, y):
            hidden = nn.functional.gelu(self.norm(self.fc1(x)))
            return ((self.fc2(hidden) - y) ** 2).mean()

    return Net()


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(5, 6)
            self.norm = nn.BatchNorm1d(6)
            self.fc2 = nn.Dense(6, 1)

        def construct(self, x, y):
            hidden = ops.gelu(self.norm(self.fc1(x)), approximate="tanh")
            return ((self.fc2(hidden) - y) ** 2).mean()

    return Net()


def torch_optimizer(net):
    import torch

    return torch.optim.Adam(net.parameters(), 1e-2)


def mindspore_optimizer(net):
    from mindspore import nn

    return nn.Adam(net.trainable_params(), 1e-2)
