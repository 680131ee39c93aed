"""Branches and loops on values, writes through views, and a weight that is used twice."""

import numpy as np

OUTPUTS = ("loss", "h")


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(3, 4)).astype(np.float32),
        "y": random.normal(size=4).astype(np.float32),
    }


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(4, 4))
            self.b = nn.Parameter(torch.zeros(4))

        def forward(self, x, y):
            h = x @ self.w
            h = torch.tanh(h) if h.sum() > 0 else torch.sigmoid(h)
            while h.norm() < 10:
                h = h * 1.5 + self.b
            h = h.clone()
            h[:, 0].mul_(2.0)
            h.add_(1.0)
            h = h @ self.w.t()
            return ((h.view(-1)[2:6] - y) ** 2).mean(), h

    return Net()
