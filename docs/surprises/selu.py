"""SELU of negative numbers.

For x < 0 SELU is λ·α·(eˣ − 1), with λ = 1.0507 and α = 1.6733, and its derivative λ·α·eˣ. MindSpore's
value is right; its gradient is λ·(value + 1), for which α would have to be 1.
"""

import numpy as np

EXPECTED_DIFFERENCES = [
    {
        "engines": ["mindspore"],
        "reason": "MindSpore 2.10's gradient of SELU is wrong for x < 0",
    }
]


def inputs():
    return {"x": np.array([-2.0, -0.5, 0.5, 2.0], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(x):
        return ops.selu(x).sum()

    return net


def torch_net():
    import torch

    def net(x):
        return torch.selu(x).sum()

    return net
