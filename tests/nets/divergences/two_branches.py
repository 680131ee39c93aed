"""Two branches that meet in one sum, with a mistake in each: mish for silu, elu for relu."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(2).standard_normal((3, 4)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Dense(4, 4), nn.Dense(4, 4)

        def construct(self, x):
            one = ops.mish(self.one(x))
            two = ops.elu(self.two(x))
            return (one + two + x).sum()

    return Net()


def torch_net():
    from torch import nn
    from torch.nn import functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            one = functional.silu(self.one(x))
            two = functional.relu(self.two(x))
            return (one + two + x).sum()

    return Net()
