"""A ranking loss for pairs that are equal, without a margin.

The loss is 0 there, and starts to rise: PyTorch 2.13 gives the slope of its rise, 2.15 gives 0.
"""

import numpy as np


def inputs():
    return {
        "first": np.array([1, 2, 3], np.float32),
        "second": np.array([1, 4, 0], np.float32),
        "sign": np.array([1, 1, -1], np.float32),
    }


def torch_net():
    import torch

    def net(first, second, sign):
        return torch.nn.functional.margin_ranking_loss(first, second, sign)

    return net
