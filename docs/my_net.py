"""A small regression net, ported."""

import numpy as np


def inputs():
    return {"x": np.array([[1, 2, 3], [4, 5, 7]], np.float32)}


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.dense = nn.Linear(3, 2)
            self.gelu = nn.GELU()

        def forward(self, x):
            hidden = self.gelu(self.dense(x))
            return (hidden**2).mean()

    return Net()


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 2)
            self.gelu = nn.GELU()

        def construct(self, x):
            hidden = self.gelu(self.dense(x))
            return (hidden**2).mean()

    return Net()
