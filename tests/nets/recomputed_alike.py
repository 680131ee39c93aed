"""Two operators of one kind in a block that PyTorch's reentrant checkpoint computes again."""

import numpy as np


def inputs():
    return {"x": np.array([0.5, -0.25, 1.5], np.float32)}


def torch_net():
    import torch
    from torch.utils.checkpoint import checkpoint

    def block(x):
        return torch.sin(torch.sin(x))

    def net(x):
        return checkpoint(block, x, use_reentrant=True).sum()

    return net
