"""sigmoid, one element of whose result is overwritten through .data after the sum."""

import numpy as np


def inputs():
    return {"a": np.array([1.0, 2.0, 3.0], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(a):
        return ops.sigmoid(a).sum()

    return net


def torch_net():
    import torch

    def net(a):
        b = torch.sigmoid(a)
        y = b.sum()
        b.data[1] = 0.0
        return y

    return net
