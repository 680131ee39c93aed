"""Axes of length 1 that are moved: to the kernels a reshape, beside transposes that are none."""

import numpy as np


def inputs():
    rng = np.random.default_rng(0)
    return {"x": rng.standard_normal((1, 3, 1, 4)).astype(np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(x):
        moved = ops.transpose(x, (2, 1, 0, 3))
        swapped = ops.transpose(x, (0, 3, 2, 1))
        turned = ops.transpose(moved.reshape(3, 4), (1, 0))
        doubled = ops.transpose(moved * 2, (1, 0, 2, 3)).reshape(3, 4)
        return (ops.tanh(turned) * swapped.reshape(4, 3)).sum() + (doubled * doubled).sum()

    return net
