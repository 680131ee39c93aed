"""A tensor less nearly itself: what is left is made of the digits that rounding moves."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(0).standard_normal((5, 6)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def construct(self, x):
            rest = x - 0.99999 * x
            return rest.square().sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def forward(self, x):
            rest = x - 0.99999 * x
            return rest.square().sum()

    return Net()
