"""A block that makes its activation anew in every forward: a module that the net has no path for."""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -0.25], [1.0, 2.0]], np.float32)}


def mindspore_net():
    from mindspore import nn

    class Block(nn.Cell):
        def construct(self, x):
            act = nn.Tanh()
            return act(x) * x

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def construct(self, x):
            return self.block(x).sum()

    return Net()


def torch_net():
    from torch import nn

    class Block(nn.Module):
        def forward(self, x):
            act = nn.Tanh()
            return act(x) * x

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return self.block(x).sum()

    return Net()
