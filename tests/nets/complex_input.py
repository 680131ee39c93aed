"""An input that no engine differentiates: complex numbers."""

import numpy as np


def inputs():
    return {"x": np.array([1 + 2j], np.complex64)}


def mindspore_net():
    def square_sum(x):
        return (x * x).sum()

    return square_sum


def torch_net():
    def square_sum(x):
        return (x * x).sum()

    return square_sum
