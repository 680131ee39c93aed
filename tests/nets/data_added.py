"""A tensor that is added to through ``.data`` before it is read again."""

import numpy as np


def inputs():
    return {"a": np.array([0.5, -1.0], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(a):
        grown = ops.exp(a)
        grown.data[:] = grown + 1.0
        return (grown * grown).sum()

    return net


def torch_net():
    import torch

    def net(a):
        grown = torch.exp(a)
        grown.data[:] = grown + 1.0
        return (grown * grown).sum()

    return net
