"""A layer with one output, whose loss is computed by hand against a target of shape (n,)."""

import numpy as np

CONSTANTS = ("t",)


def inputs():
    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal((4, 3)).astype(np.float32),
        "t": rng.standard_normal(4).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 1)

        def construct(self, x, t):
            return ops.abs(self.fc(x) - t).mean()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 1)

        def forward(self, x, t):
            return (self.fc(x) - t).abs().mean()

    return Net()
