"""A counter in a recomputed block, which the output reads times zero: it moves once or twice."""

import numpy as np

TRAIN = True


def inputs():
    return {"x": np.array([[1, 2, 3], [4, 6, 9], [0, 1, -1], [2, -3, 5]], np.float32)}


def mindspore_net():
    from mindspore import Parameter, Tensor, nn, ops

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 3)
            self.avg = Parameter(Tensor(np.zeros(3, np.float32)), name="avg", requires_grad=False)
            self.count = Parameter(
                Tensor(np.zeros((), np.float32)), name="count", requires_grad=False
            )

        def construct(self, x):
            y = self.fc(x)
            ops.assign(self.count, self.count + 1)
            y = y * (1 + 0 * self.count)
            return ops.tanh(y)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.block.recompute()

        def construct(self, x):
            return (self.block(x) ** 2).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.register_buffer("avg", torch.zeros(3))
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            y = self.fc(x)
            self.count += 1
            y = y * (1 + 0 * self.count)
            return torch.tanh(y)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return (checkpoint(self.block, x, use_reentrant=False) ** 2).sum()

    return Net()
