"""Batch norm with the momentum copied over.

PyTorch's momentum 0.1 weighs the new statistics, MindSpore's the old ones: it should have become
0.9. In training mode neither the forward nor the gradient shows it, only the running statistics
afterwards.
"""

import numpy as np

TRAIN = True
FAULT = {
    "mindspore_line": "h = self.bn(h)",
    "torch_line": "h = self.bn(h)",
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
        "fc1.weight": random.normal(scale=0.6, size=(4, 4)).round(2).astype(np.float32),
        "fc1.bias": random.normal(scale=0.6, size=4).round(2).astype(np.float32),
        "bn.weight": np.array([1.0, 0.8, 1.2, 0.9], np.float32),
        "bn.bias": np.array([0.1, 0.2, -0.1, 0.3], np.float32),
        "fc2.weight": random.normal(scale=0.6, size=(2, 4)).round(2).astype(np.float32),
        "fc2.bias": random.normal(scale=0.6, size=2).round(2).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(4, 4)
            self.bn = nn.BatchNorm1d(4, momentum=0.1)
            self.fc2 = nn.Dense(4, 2)
            self.loss = nn.MSELoss()

        def construct(self, x, y):
            h = self.fc1(x)
            h = self.bn(h)
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
            self.bn = nn.BatchNorm1d(4, momentum=0.1)
            self.fc2 = nn.Linear(4, 2)
            self.loss = nn.MSELoss()

        def forward(self, x, y):
            h = self.fc1(x)
            h = self.bn(h)
            h = torch.relu(h)
            z = self.fc2(h)
            return self.loss(z, y)

    return Net()
