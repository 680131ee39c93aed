"""Memory that is overwritten through ``.data`` after it was read: a whole tensor and a part of one."""

import numpy as np


def inputs():
    return {"a": np.array([1.0, 2.0, 3.0], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(a):
        squashed = ops.tanh(a)
        total = squashed.sum()
        squashed.data[1:] = 0.5
        return total

    return net


def torch_net():
    import torch

    def net(a):
        squashed = torch.tanh(a)
        total = squashed.sum()
        squashed.data[1:] = 0.5
        return total

    return net
