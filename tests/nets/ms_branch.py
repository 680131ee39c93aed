"""A branch that depends on a value."""

import numpy as np


def inputs():
    return {"x": np.array([1.0, -0.5, 2.0], np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def construct(self, x):
            out = x * x * x if x.sum() > 0 else ops.exp(x)
            return out.sum()

    return Net()
