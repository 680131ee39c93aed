"""A branch that a scale of 0 hides, with another activation on either side."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.scale = nn.Parameter(torch.zeros(3))

        def forward(self, x):
            return x + self.scale * self.scale * torch.relu(self.fc(x))

    return Net()


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 3)
            self.scale = ms.Parameter(ops.zeros(3))

        def construct(self, x):
            return x + self.scale * self.scale * ops.sigmoid(self.fc(x))

    return Net()
