"""A mistake that a fixed tolerance might swallow: one scale is off by 1e-4 of itself."""

import numpy as np

FAULT = {
    "mindspore_line": "scaled = hidden * 0.35",
    "torch_line": "scaled = hidden * 0.350035",
}


def inputs():
    return {"x": np.random.default_rng(6).standard_normal((4, 6)).astype(np.float32)}


def parameters():
    weight = np.random.default_rng(7).uniform(-0.4, 0.4, (5, 6)).astype(np.float32)
    return {"fc.weight": weight}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(6, 5, has_bias=False)

        def construct(self, x):
            hidden = ops.tanh(self.fc(x))
            scaled = hidden * 0.35
            return ops.softmax(scaled, axis=-1).square().sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 5, bias=False)

        def forward(self, x):
            hidden = torch.tanh(self.fc(x))
            scaled = hidden * 0.350035
            return torch.softmax(scaled, dim=-1).square().sum()

    return Net()
