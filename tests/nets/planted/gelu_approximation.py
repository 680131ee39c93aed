"""GELU by its approximation.

`nn.GELU` approximates by tanh unless told otherwise in MindSpore, and is exact unless told
otherwise in PyTorch. The values differ in the fourth digit.
"""

import numpy as np

FAULT = {
    "mindspore_line": "h = self.gelu(h)",
    "torch_line": "h = self.gelu(h)",
}


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(5, 4)).round(2).astype(np.float32),
        "y": random.normal(size=(5, 2)).round(2).astype(np.float32),
    }


def parameters():
    random = np.random.default_rng(1)
    return {
        "fc1.weight": random.normal(scale=1.2, size=(4, 4)).round(2).astype(np.float32),
        "fc1.bias": random.normal(scale=0.6, size=4).round(2).astype(np.float32),
        "fc2.weight": random.normal(scale=3.0, size=(2, 4)).round(2).astype(np.float32),
        "fc2.bias": random.normal(scale=0.6, size=2).round(2).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(4, 4)
            self.gelu = nn.GELU()
            self.fc2 = nn.Dense(4, 2)
            self.loss = nn.MSELoss()

        def construct(self, x, y):
            h = self.fc1(x)
            h = self.gelu(h)
            h = ops.relu(h)
            z = self.fc2(h)
            return self.loss(z, y)

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(4, 4)
            self.gelu = nn.GELU()
            self.fc2 = nn.Linear(4, 2)
            self.loss = nn.MSELoss()

        def forward(self, x, y):
            h = self.fc1(x)
            h = self.gelu(h)
            h = torch.relu(h)
            z = self.fc2(h)
            return self.loss(z, y)

    return Net()
