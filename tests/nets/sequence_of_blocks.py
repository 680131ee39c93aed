"""Blocks of one class in a sequence, each with an activation of its own that holds no parameter."""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -0.25], [1.0, 2.0]], np.float32)}


def mindspore_net():
    from mindspore import nn

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(2, 2)
            self.act = nn.Tanh()

        def construct(self, x):
            return self.act(self.fc(x)) + x

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.features = nn.SequentialCell(Block(), nn.Tanh(), Block(), nn.Tanh())

        def construct(self, x):
            return self.features(x).sum()

    return Net()


def torch_net():
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.act = nn.Tanh()

        def forward(self, x):
            return self.act(self.fc(x)) + x

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(Block(), nn.Tanh(), Block(), nn.Tanh())

        def forward(self, x):
            return self.features(x).sum()

    return Net()
