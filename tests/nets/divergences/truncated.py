"""Backpropagation through time that is cut after two steps, in MindSpore's half after three."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(3).standard_normal((4, 2, 3)).astype(np.float32)}


def parameters():
    generator = np.random.default_rng(5)
    start = {}
    for name in ("into", "onwards"):
        start[f"{name}.weight"] = generator.standard_normal((3, 3)).astype(np.float32) / 2
        start[f"{name}.bias"] = generator.standard_normal(3).astype(np.float32) / 4
    return start


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.into = nn.Dense(3, 3)
            self.onwards = nn.Dense(3, 3)

        def construct(self, x):
            h = ops.zeros((2, 3), ms.float32)
            loss = 0
            for t in range(4):
                if t == 3:
                    h = ops.stop_gradient(h)
                h = ops.tanh(self.into(x[t]) + self.onwards(h))
                loss = loss + (h**2).mean()
            return loss

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.into = nn.Linear(3, 3)
            self.onwards = nn.Linear(3, 3)

        def forward(self, x):
            h = torch.zeros(2, 3)
            loss = 0
            for t in range(4):
                if t == 2:
                    h = h.detach()
                h = torch.tanh(self.into(x[t]) + self.onwards(h))
                loss = loss + (h**2).mean()
            return loss

    return Net()
