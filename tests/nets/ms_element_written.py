"""A product whose operand gets a new first element afterwards; by hand, the gradient is `8·x`, and
2 more but at the first.
"""

import numpy as np


def inputs():
    return {"x": np.array([1.0, 2.0, 3.0], np.float32)}


def mindspore_net():
    def written(x):
        h = x * 2
        y = h * h
        h[0] = 5
        return (y + h).sum()

    return written
