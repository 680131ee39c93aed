"""One dense layer called twice."""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -1.0, 0.25]], np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 3)

        def construct(self, x):
            once = ops.tanh(self.fc(x))
            twice = self.fc(once)
            return (twice * twice).sum()

    return Net()
