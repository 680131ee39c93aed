"""tanh of numbers up to 6.

MindSpore takes a quotient of polynomials for it up to 5, which is above 1 there, and 1 beyond.
"""

import numpy as np

EXPECTED_DIFFERENCES = [
    {
        "engines": ["mindspore"],
        "reason": "MindSpore 2.10 approximates tanh of float32 numbers on the CPU",
    }
]


def inputs():
    return {"x": np.array([1.0, 3.0, 4.0, 5.0, 6.0], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(x):
        return ops.tanh(x).sum()

    return net


def torch_net():
    import torch

    def net(x):
        return torch.tanh(x).sum()

    return net
