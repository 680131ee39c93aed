"""A net that starts from random numbers, and drops elements of one of its outputs."""

import numpy as np

TRAIN = True


def inputs():
    return {"x": np.ones((4, 8), np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.start = ops.standard_normal((4, 8))
            self.drop = nn.Dropout(p=0.5)

        def construct(self, x):
            return (x * self.start).sum(), self.drop(x)

    return Net()
