"""One tensor that is stacked with itself."""

import numpy as np


def inputs():
    return {"b": np.array([1.0, -0.5, 2.0], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(b):
        return (ops.stack((b, b), 0) ** 2).sum()

    return net


def torch_net():
    import torch

    def net(b):
        return (torch.stack((b, b), 0) ** 2).sum()

    return net
