"""Three slopes at kinks that meet in one gradient: relu6, hardtanh and abs of a shifted input."""

import numpy as np


def inputs():
    return {"x": np.array([6.0, 1.0, -1.0, 0.5], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(x):
        low = ops.relu6(x)
        high = ops.hardtanh(x)
        return (low * 3 + high * 5).sum() + ops.norm(x * ops.sigmoid(x))

    return net


def torch_net():
    import torch
    from torch.nn import functional

    def net(x):
        low = functional.relu6(x)
        high = functional.hardtanh(x)
        return (low * 3 + high * 5).sum() + torch.linalg.norm(x * torch.sigmoid(x))

    return net
