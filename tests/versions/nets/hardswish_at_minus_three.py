"""Hardswish at -3, where it begins to rise.

PyTorch 2.6 gives the slope of the parabola there (-0.5), 2.8 that of the zeros before it.
"""

import numpy as np


def inputs():
    return {"x": np.array([-4, -3, 0, 3], np.float32)}


def torch_net():
    import torch

    def net(x):
        return (2 * torch.nn.functional.hardswish(x)).sum()

    return net
