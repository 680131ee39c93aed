"""A bias that is added along the other axis on one side."""

import numpy as np


def inputs():
    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal((3, 3)).astype(np.float32),
        "b": rng.standard_normal(3).astype(np.float32),
    }


def mindspore_net():
    from mindspore import ops

    def net(x, b):
        return ops.tanh(x + b.reshape(3, 1)).sum()

    return net


def torch_net():
    import torch

    def net(x, b):
        return torch.tanh(x + b).sum()

    return net
