"""Two batch norms with PyTorch's momentum in both halves: MindSpore's is the share that is kept."""

import numpy as np

TRAIN = True


def inputs():
    return {"x": np.random.default_rng(3).standard_normal((6, 3)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.BatchNorm1d(3, momentum=0.1)
            self.second = nn.BatchNorm1d(3, momentum=0.1)

        def construct(self, x):
            y = self.second(ops.tanh(self.first(x)))
            return (y * y * y).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.BatchNorm1d(3, momentum=0.1)
            self.second = nn.BatchNorm1d(3, momentum=0.1)

        def forward(self, x):
            y = self.second(torch.tanh(self.first(x)))
            return (y * y * y).sum()

    return Net()
