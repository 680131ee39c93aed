"""A checkpointed block with a mistake behind it: sine for tanh in the second block."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(0).standard_normal((2, 4)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Block(nn.Cell):
        def __init__(self, act):
            super().__init__()
            self.fc = nn.Dense(4, 4)
            self.act = act

        def construct(self, x):
            return self.act(self.fc(x))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one = Block(ops.tanh)
            self.one.recompute()
            self.two = Block(ops.sigmoid)
            self.two.recompute()

        def construct(self, x):
            return (self.two(self.one(x)) ** 2).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Module):
        def __init__(self, act):
            super().__init__()
            self.fc = nn.Linear(4, 4)
            self.act = act

        def forward(self, x):
            return self.act(self.fc(x))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = Block(torch.tanh)
            self.two = Block(torch.tanh)

        def forward(self, x):
            h = checkpoint(self.one, x, use_reentrant=False)
            return (checkpoint(self.two, h, use_reentrant=False) ** 2).sum()

    return Net()
