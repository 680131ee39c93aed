"""A distance in double precision: MindSpore's gradient of l1_loss is that of single precision."""

import numpy as np


def inputs():
    return {
        "a": np.array([-1.671875, 0.84375, -0.921875], np.float64),
        "b": np.array([0.734375, 1.34375, -1.4375], np.float64),
    }


def mindspore_net():
    from mindspore import ops

    def net(a, b):
        return ops.l1_loss(b * 3.0, a).sum()

    return net


def torch_net():
    from torch.nn import functional

    def net(a, b):
        return functional.l1_loss(b * 3.0, a).sum()

    return net
