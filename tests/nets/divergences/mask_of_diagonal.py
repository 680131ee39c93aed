"""A causal mask that hides the diagonal too in MindSpore's half, and is a buffer in PyTorch's."""

import numpy as np


def inputs():
    return {"scores": np.random.default_rng(3).standard_normal((2, 4, 4)).astype(np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mask = ms.Tensor(np.triu(np.ones((4, 4)), 0).astype(bool))

        def construct(self, scores):
            weights = ops.softmax(ops.masked_fill(scores, self.mask, -1e9), axis=-1)
            return (weights * weights).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mask", torch.ones(4, 4).triu(1).bool(), persistent=False)

        def forward(self, scores):
            weights = torch.softmax(scores.masked_fill(self.mask, -1e9), dim=-1)
            return (weights * weights).sum()

    return Net()
