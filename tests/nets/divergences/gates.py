"""Gates of an LSTM in the order i, f, g, o, in MindSpore's half in the order i, g, f, o."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)}


def parameters():
    generator = np.random.default_rng(5)
    return {
        "into.weight": generator.standard_normal((12, 4)).astype(np.float32) / 2,
        "into.bias": generator.standard_normal(12).astype(np.float32) / 4,
        "onwards.weight": generator.standard_normal((12, 3)).astype(np.float32) / 2,
        "onwards.bias": generator.standard_normal(12).astype(np.float32) / 4,
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.into = nn.Dense(4, 12)
            self.onwards = nn.Dense(3, 12)

        def construct(self, x):
            h = ops.zeros((2, 3), ms.float32)
            c = ops.zeros((2, 3), ms.float32)
            for t in range(3):
                i, g, f, o = ops.split(self.into(x[:, t]) + self.onwards(h), 3, axis=-1)
                c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
                h = ops.sigmoid(o) * ops.tanh(c)
            return (h * h).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.into = nn.Linear(4, 12)
            self.onwards = nn.Linear(3, 12)

        def forward(self, x):
            h = torch.zeros(2, 3)
            c = torch.zeros(2, 3)
            for t in range(3):
                i, f, g, o = (self.into(x[:, t]) + self.onwards(h)).chunk(4, dim=-1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            return (h * h).sum()

    return Net()
