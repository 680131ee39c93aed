"""A sort in double precision: MindSpore's yields numbers of single precision."""

import numpy as np


def inputs():
    return {
        "a": np.array([[1.40625, -1.1875, 0.484375], [-1.40625, 1.53125, -0.53125]], np.float64),
        "b": np.array(
            [[1.734375, 1.359375, -1.828125], [-1.046875, -1.984375, 1.609375]], np.float64
        ),
    }


def mindspore_net():
    from mindspore import ops

    def net(a, b):
        t0 = ops.sort(ops.atan(a), 0)[0]
        return ops.hypot(b, ops.amax(t0, 1, True)).sum()

    return net


def torch_net():
    import torch

    def net(a, b):
        t0 = torch.sort(torch.atan(a), 0)[0]
        return torch.hypot(b, torch.amax(t0, 1, True)).sum()

    return net
