"""exp, its result halved in place through .data before the backward."""

import numpy as np


def inputs():
    return {"a": np.array([0.1, 0.2, 0.3], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(a):
        b = ops.exp(a)
        return (b * 3).sum()

    return net


def torch_net():
    import torch

    def net(a):
        b = torch.exp(a)
        y = (b * 3).sum()
        b.data.mul_(0.5)
        return y

    return net
