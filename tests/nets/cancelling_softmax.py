"""A softmax of large logits that cancel: their difference keeps few of the digits that they have."""

import numpy as np


def inputs():
    drawn = np.random.default_rng(4).standard_normal((2, 3, 5)).astype(np.float32)
    large = (20_000 + 100 * drawn[0]).astype(np.float32)
    return {"a": large, "b": (large + drawn[1]).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def construct(self, a, b):
            logits = b - a
            return ops.softmax(logits * 1.1, axis=-1).square().sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, a, b):
            logits = b - a
            return torch.softmax(logits * 1.1, dim=-1).square().sum()

    return Net()
