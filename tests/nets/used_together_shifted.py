"""A value and the same one shifted, read together by two operators: addition hands gradients on."""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -0.25], [1.0, 0.75]], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(x):
        a = ops.exp(x)
        b = a + 1
        return (a * b + a / b).sum()

    return net


def torch_net():
    import torch

    def net(x):
        a = torch.exp(x)
        b = a + 1
        return (a * b + a / b).sum()

    return net
