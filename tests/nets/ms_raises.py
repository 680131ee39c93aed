"""A forward that multiplies matrices which do not fit."""

import numpy as np


def inputs():
    return {"x": np.ones((2, 3), np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        def construct(self, x):
            x = self.act(x)
            return ops.matmul(x, x)

    return Net()
