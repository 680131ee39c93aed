"""A product that is overwritten while a view of it looks on: both hold the same memory."""

import numpy as np


def inputs():
    return {"x": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)}


def mindspore_net():
    def net(x):
        h = x * 3
        flat = h.view(4)
        h.copy_(x * x)
        return flat.sum() + h.sum()

    return net
