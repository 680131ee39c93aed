"""Functions of the framework and of the user, each called at two lines with like arguments."""

import numpy as np


def inputs():
    return {"x": np.array([[1.0, -2.0, 0.5], [0.3, 0.7, -0.1]], np.float32)}


def mindspore_net():
    from mindspore import ops

    def scaled(v, k):
        if k > 1:
            return ops.tanh(v) * k
        return ops.sigmoid(v)

    def net(x):
        first = ops.softmax(ops.relu(x), axis=-1)
        second = ops.softmax(ops.relu(x + 1), axis=-1)
        first = scaled(first, 2)
        second = scaled(second, 2)
        low, _ = ops.max(first, axis=0)
        high, _ = ops.max(second, axis=0)
        near = ops.norm(low)
        far = ops.norm(high)
        return near * far

    return net


def torch_net():
    import torch

    def scaled(v, k):
        if k > 1:
            return torch.tanh(v) * k
        return torch.sigmoid(v)

    def net(x):
        first = torch.softmax(torch.relu(x), -1)
        second = torch.softmax(torch.relu(x + 1), -1)
        first = scaled(first, 2)
        second = scaled(second, 2)
        low, _ = torch.max(first, 0)
        high, _ = torch.max(second, 0)
        near = torch.norm(low)
        far = torch.norm(high)
        return near * far

    return net
