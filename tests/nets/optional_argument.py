"""A net with arguments that have defaults, of which a scenario gives just the first."""

import numpy as np


def inputs():
    return {"x": np.array([1.0, 2.0], np.float32)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def construct(self, x, mask=None, scale=3.0):
            return (x * x).sum() * scale if mask is None else (x * mask).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def forward(self, x, mask=None, scale=3.0):
            return (x * x).sum() * scale if mask is None else (x * mask).sum()

    return Net()
