"""Dropout in training: each framework draws a mask of its own."""

import numpy as np

TRAIN = True


def inputs():
    return {"x": np.arange(1, 13, dtype=np.float32).reshape(3, 4)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dropout = nn.Dropout(p=0.5)

        def construct(self, x):
            return (self.dropout(x * x) * 3).sum(), x.sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.dropout = nn.Dropout(p=0.5)

        def forward(self, x):
            return (self.dropout(x * x) * 3).sum(), x.sum()

    return Net()
