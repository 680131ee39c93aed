"""Floats of every width, integers and booleans, in and out."""

import numpy as np

OUTPUTS = ("half", "brain", "double")


def inputs():
    return {
        "x": np.array([0.5, -1.0, 2.0], np.float16),
        "n": np.array([1, 2, 3], np.int64),
        "mask": np.array([True, False, True]),
        "wide": np.array([0.1, 0.2, 0.3], np.float64),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def construct(self, x, n, mask, wide):
            half = ops.where(mask, x * n.astype(ms.float16), x)
            return half, x.astype(ms.bfloat16) * 3, wide * wide

    return Net()
