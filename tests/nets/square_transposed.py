"""A square matrix times its transpose, which lies where the matrix does."""

import numpy as np


def inputs():
    return {"b": np.array([[1.0, -0.5, 2.0], [-1.5, 0.25, 3.0], [0.75, -2.0, 1.25]], np.float32)}


def mindspore_net():
    from mindspore import ops

    def net(b):
        return (ops.matmul(b, ops.t(b)) ** 2).sum()

    return net


def torch_net():
    import torch

    def net(b):
        return (torch.matmul(b, b.t()) ** 2).sum()

    return net
