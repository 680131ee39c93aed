"""A sum of squares."""

import numpy as np


def inputs():
    return {"x": np.array([1, 2, 3], np.float32)}


def mindspore_net():
    def net(x):
        return (x * x).sum()

    return net


def torch_net():
    def net(x):
        return (x * x).sum()

    return net
