"""Clamp at its bounds.

PyTorch 2.13 passes the gradient where the input is at a bound, 2.14.1 does not.
"""

import numpy as np


def inputs():
    return {"x": np.array([-2, -1, 0.5, 1], np.float32)}


def torch_net():
    import torch

    def net(x):
        return (3 * torch.clamp(x, -1.0, 1.0)).sum()

    return net
