"""A recurrent net of three steps, of which PyTorch's detaches the state after the second."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(2).standard_normal((4, 6)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cell = nn.Dense(6, 6)
            self.out = nn.Dense(6, 1)

        def construct(self, x):
            h = ops.zeros_like(x)
            for _ in range(3):
                h = ops.tanh(self.cell(x + h))
            return self.out(h).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.Linear(6, 6)
            self.out = nn.Linear(6, 1)

        def forward(self, x):
            h = torch.zeros_like(x)
            for step in range(3):
                h = torch.tanh(self.cell(x + h))
                if step == 1:
                    h = h.detach()
            return self.out(h).sum()

    return Net()
