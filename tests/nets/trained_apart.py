"""Nets that do not train the same: weights frozen, plain, or of integers on one side."""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -1.0, 2.0]], np.float32)}


def mindspore_net():
    from mindspore import Parameter, Tensor, nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 2)
            self.fc.weight.requires_grad = False
            self.last = nn.Dense(2, 1)
            self.scale = Tensor(np.ones(2, np.float32))
            self.steps = Parameter(Tensor(np.array([3], np.int32)))

        def construct(self, x):
            return (self.last(self.fc(x) * self.scale) * self.steps).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 2)
            self.last = nn.Linear(2, 1)
            self.scale = nn.Parameter(torch.tensor([1.5, 2.0]))
            self.register_buffer("steps", torch.tensor([3], dtype=torch.int32))

        def forward(self, x):
            return (self.last(self.fc(x) * self.scale) * self.steps).sum()

    return Net()
