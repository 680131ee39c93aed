"""Sixteen norms of which fifteen have another eps on each side, and one activation that is another."""

import numpy as np

COUNT = 16


def inputs():
    return {"x": np.random.default_rng(0).standard_normal((3, 6)).astype(np.float32) / 4}


def mindspore_net():
    from mindspore import nn, ops

    class Block(nn.Cell):
        def __init__(self, number):
            super().__init__()
            self.norm = nn.LayerNorm((6,), epsilon=1e-5 if number == 9 else 1e-3)
            self.fc = nn.Dense(6, 6)
            self.number = number

        def construct(self, x):
            hidden = self.fc(self.norm(x))
            if self.number == 5:
                return x + ops.relu(hidden)
            return x + ops.tanh(hidden)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.SequentialCell(*(Block(number) for number in range(COUNT)))

        def construct(self, x):
            return self.blocks(x).sum()

    return Net()


def torch_net():
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(6)
            self.fc = nn.Linear(6, 6)

        def forward(self, x):
            return x + self.fc(self.norm(x)).tanh()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.Sequential(*(Block() for _ in range(COUNT)))

        def forward(self, x):
            return self.blocks(x).sum()

    return Net()
