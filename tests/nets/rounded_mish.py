"""A gradient of mish that MindSpore's kernels round more than those around it."""

import numpy as np


def inputs():
    return {
        "b": np.array([-1.140625, -1.359375, -0.65625, -1.71875], np.float32),
    }


def mindspore_net():
    from mindspore import ops

    def net(b):
        t1 = 1.0 / (2.0 + ops.cos(b))
        return ops.mish(ops.atan2(b, t1)).sum()

    return net


def torch_net():
    import torch
    from torch.nn import functional

    def net(b):
        t1 = 1.0 / (2.0 + torch.cos(b))
        return functional.mish(torch.atan2(b, t1)).sum()

    return net
