"""A cubic."""

import numpy as np


def inputs():
    return {"x": np.array([1.0, 2.0, 3.0], np.float32)}


def mindspore_net():
    def cubic(x):
        return (x * x * x).sum()

    return cubic
