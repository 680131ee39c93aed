"""A function that casts to float32 what it is given, in which differences of step 1e-6 drown."""

import numpy as np


def inputs():
    return {"x": np.array([0.5, 1.5], np.float32)}


def torch_net():
    def squares(x):
        return x.float().pow(2).sum()

    return squares
