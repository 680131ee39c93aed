"""A weight that is clamped through .data behind the product that reads it (PyTorch)."""

import numpy as np


def inputs():
    return {"x": np.array([[1, -2]], np.float32)}


def parameters():
    return {
        "fc.weight": np.array([[0.25, 1], [-0.75, 0.5]], np.float32),
        "out.weight": np.array([[1, 2], [3, 4]], np.float32),
    }


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2, bias=False)
            self.out = nn.Linear(2, 2, bias=False)

        def forward(self, x):
            h = torch.tanh(self.fc(x))
            self.fc.weight.data.clamp_(-0.5, 0.5)
            return self.out(h).sum()

    return Net()
