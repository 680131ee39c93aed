"""A net that fails."""

import numpy as np


def inputs():
    return {"x": np.array([1, 2, 3], np.float32)}


def torch_net():
    def net(x):
        raise ValueError("this net always fails")

    return net
