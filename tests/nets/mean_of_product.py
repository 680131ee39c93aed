"""The mean of a product: the compiler reshapes two tensors of one form, in an order of its own."""

import numpy as np


def inputs():
    return {
        "x1": np.array(
            [
                [0.734375, 1.34375, -1.4375],
                [0.859375, 0.703125, -1.6875],
                [-1.40625, 1.078125, -0.625],
            ],
            np.float32,
        ),
    }


def mindspore_net():
    from mindspore import ops

    def net(x1):
        t1 = ops.prod(ops.tanh(x1), 0)
        return (t1).mean()

    return net


def torch_net():
    import torch

    def net(x1):
        t1 = torch.prod(torch.tanh(x1), 0)
        return (t1).mean()

    return net
