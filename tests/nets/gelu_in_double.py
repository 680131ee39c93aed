"""GELU in double precision: the compiler writes its constants in six digits."""

import numpy as np


def inputs():
    return {
        "b": np.array([[-1.328125, -1.9375, 0.640625, -0.5]], np.float64),
    }


def mindspore_net():
    from mindspore import ops

    def net(b):
        t0 = ops.gelu(b, approximate="none")
        return (t0 * t0).sum()

    return net


def torch_net():
    from torch.nn import functional

    def net(b):
        t0 = functional.gelu(b)
        return (t0 * t0).sum()

    return net
