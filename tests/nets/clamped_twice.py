"""Clamped by two bounds, then by one: the compiler makes two kernels of the first, one of the second."""

import numpy as np


def inputs():
    return {
        "a": np.array(
            [
                [0.125, 0.171875, 1.59375],
                [0.6875, -0.875, -0.5625],
                [1.796875, -0.140625, -0.53125],
            ],
            np.float32,
        ),
    }


def mindspore_net():
    from mindspore import ops

    def net(a):
        both = ops.clamp(a, -0.75, 0.875)
        twice = ops.repeat_interleave(both, 2, 1)
        one = ops.clamp(twice, min=-0.25)
        return one.sum()

    return net


def torch_net():
    import torch

    def net(a):
        both = torch.clamp(a, -0.75, 0.875)
        twice = torch.repeat_interleave(both, 2, 1)
        one = torch.clamp(twice, min=-0.25)
        return one.sum()

    return net
