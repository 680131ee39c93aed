"""A block of a transformer, the same in both frameworks; tests plant mistakes in PyTorch's."""

import numpy as np


def inputs():
    generator = np.random.default_rng(11)
    return {
        "x": generator.standard_normal((2, 5, 8)).astype(np.float32),
        "t": generator.standard_normal((2, 5, 4)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Attention(nn.Cell):
        def __init__(self):
            super().__init__()
            self.q = nn.Dense(8, 8)
            self.k = nn.Dense(8, 8)
            self.v = nn.Dense(8, 8)
            self.out = nn.Dense(8, 8)

        def construct(self, x):
            q = self.q(x).reshape(2, 5, 2, 4).transpose(0, 2, 1, 3)
            k = self.k(x).reshape(2, 5, 2, 4).transpose(0, 2, 1, 3)
            v = self.v(x).reshape(2, 5, 2, 4).transpose(0, 2, 1, 3)
            scores = ops.matmul(q, k.swapaxes(-1, -2)) / 2.0
            weights = ops.softmax(scores, axis=-1)
            y = ops.matmul(weights, v).transpose(0, 2, 1, 3).reshape(2, 5, 8)
            return self.out(y)

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.norm1 = nn.LayerNorm((8,), epsilon=1e-5)
            self.attention = Attention()
            self.norm2 = nn.LayerNorm((8,), epsilon=1e-5)
            self.up = nn.Dense(8, 16)
            self.down = nn.Dense(16, 8)

        def construct(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.down(ops.relu(self.up(self.norm2(x))))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.head = nn.Dense(8, 4)

        def construct(self, x, t):
            y = self.head(self.block(x))
            return ((y - t) ** 2).mean()

    return Net()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q = nn.Linear(8, 8)
            self.k = nn.Linear(8, 8)
            self.v = nn.Linear(8, 8)
            self.out = nn.Linear(8, 8)

        def forward(self, x):
            q = self.q(x).reshape(2, 5, 2, 4).transpose(1, 2)
            k = self.k(x).reshape(2, 5, 2, 4).transpose(1, 2)
            v = self.v(x).reshape(2, 5, 2, 4).transpose(1, 2)
            scores = q @ k.transpose(-1, -2) / 2.0
            weights = torch.softmax(scores, dim=-1)
            y = (weights @ v).transpose(1, 2).reshape(2, 5, 8)
            return self.out(y)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1 = nn.LayerNorm(8)
            self.attention = Attention()
            self.norm2 = nn.LayerNorm(8)
            self.up = nn.Linear(8, 16)
            self.down = nn.Linear(16, 8)

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.down(functional.relu(self.up(self.norm2(x))))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.head = nn.Linear(8, 4)

        def forward(self, x, t):
            y = self.head(self.block(x))
            return ((y - t) ** 2).mean()

    return Net()
