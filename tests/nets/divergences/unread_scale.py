"""A layer and a scale, which the port holds and leaves out."""

import numpy as np


def inputs():
    random = np.random.default_rng(3)
    return {"x": random.standard_normal((2, 4)).astype(np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.up = nn.Dense(4, 5)
            self.scale = ms.Parameter(ops.zeros((5,)), name="scale")

        def construct(self, x):
            return (ops.tanh(self.up(x)) ** 2).mean()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.up = nn.Linear(4, 5)
            self.scale = nn.Parameter(torch.linspace(0.5, 1.5, 5))

        def forward(self, x):
            return (torch.tanh(self.up(x) * self.scale) ** 2).mean()

    return Net()
