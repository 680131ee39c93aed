"""Padding on the other side.

An even kernel needs one row and column of padding. The original pads left and top by hand, the
port's "same" pads right and bottom; the shapes agree.
"""

import numpy as np

FAULT = {
    "mindspore_line": "h = self.conv(h)",
    "torch_line": "h = self.conv(nn.functional.pad(h, (1, 0, 1, 0)))",
}


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(2, 2, 5, 5)).round(2).astype(np.float32),
        "y": random.normal(size=(2, 3)).round(2).astype(np.float32),
    }


def parameters():
    random = np.random.default_rng(1)
    return {
        "conv.weight": random.normal(scale=0.6, size=(3, 2, 2, 2)).round(2).astype(np.float32),
        "conv.bias": random.normal(scale=0.6, size=3).round(2).astype(np.float32),
        "fc.weight": random.normal(scale=0.2, size=(3, 75)).round(2).astype(np.float32),
        "fc.bias": random.normal(scale=0.6, size=3).round(2).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 2, pad_mode="same", has_bias=True)
            self.fc = nn.Dense(75, 3)
            self.loss = nn.MSELoss()

        def construct(self, x, y):
            h = ops.tanh(x)
            h = self.conv(h)
            h = ops.relu(h)
            z = self.fc(h.reshape(2, -1))
            return self.loss(z, y)

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 2)
            self.fc = nn.Linear(75, 3)
            self.loss = nn.MSELoss()

        def forward(self, x, y):
            h = torch.tanh(x)
            h = self.conv(nn.functional.pad(h, (1, 0, 1, 0)))
            h = torch.relu(h)
            z = self.fc(h.reshape(2, -1))
            return self.loss(z, y)

    return Net()
