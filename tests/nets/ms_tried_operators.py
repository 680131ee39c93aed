"""Operators with arguments of several kinds, each of which reads an input itself."""

import numpy as np

TRAIN = True


def inputs():
    x = np.array([[1.0, 2.0, 4.0], [0.5, 3.0, -1.0]]) + 1 / 3
    y = np.array([[1.0, -2.0, 0.5], [0.25, 2.0, 8.0]])
    return {"x": x.astype(np.float32), "y": y.astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(3)
            self.unit = ops.L2Normalize(axis=1)
            self.sub = ops.Sub()
            self.relu = ops.ReLU()

        def construct(self, x, y):
            total = ops.softmax(x, axis=1) * 2 + ops.cumsum(x, axis=1)
            total = total * self.unit(x) * self.norm(x)
            return (total + self.sub(x, y) + self.relu(y)).sum()

    return Net()
