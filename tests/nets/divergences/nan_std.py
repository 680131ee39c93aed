"""The square root of a variance that is 0: the loss is finite, its gradient is not."""

import numpy as np


def inputs():
    return {"x": np.array([2.0, 2.0, 2.0, 2.0], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(x):
        centred = x - x.mean()
        return ops.sqrt((centred * centred).mean())

    return net


def torch_net():
    import torch

    def net(x):
        centred = x - x.mean()
        return torch.sqrt((centred * centred).mean())

    return net
