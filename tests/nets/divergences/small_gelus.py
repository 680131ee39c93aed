"""Three blocks with a GELU, by the error function and by tanh: the first two get small values."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(0).standard_normal((2, 6)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn

    class Block(nn.Cell):
        def __init__(self, scale):
            super().__init__()
            self.fc = nn.Dense(6, 6)
            self.act = nn.GELU()
            self.scale = scale

        def construct(self, x):
            return x + self.act(self.fc(x) * self.scale)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.SequentialCell(Block(1e-3), Block(1e-3), Block(2.0))

        def construct(self, x):
            return self.blocks(x).sum()

    return Net()


def torch_net():
    from torch import nn

    class Block(nn.Module):
        def __init__(self, scale):
            super().__init__()
            self.fc = nn.Linear(6, 6)
            self.act = nn.GELU()
            self.scale = scale

        def forward(self, x):
            return x + self.act(self.fc(x) * self.scale)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.Sequential(Block(1e-3), Block(1e-3), Block(2.0))

        def forward(self, x):
            return self.blocks(x).sum()

    return Net()
