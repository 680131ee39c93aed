"""A target of shape (3,) against a prediction (3, 1) on one side alone."""

import numpy as np

CONSTANTS = ("t",)


def inputs():
    return {
        "p": np.array([[1.0], [2.0], [4.0]], np.float32),
        "t": np.array([0.0, 1.0, 5.0], np.float32),
    }


def mindspore_net():
    from mindspore import nn

    loss = nn.MSELoss()

    def net(p, t):
        return loss(p.squeeze(1), t)

    return net


def torch_net():
    from torch import nn

    loss = nn.MSELoss()

    def net(p, t):
        return loss(p, t)

    return net
