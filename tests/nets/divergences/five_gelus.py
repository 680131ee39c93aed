"""Five residual blocks, each with a GELU: by the error function, and by its tanh approximation."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(0).standard_normal((2, 6)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.up = nn.Dense(6, 12)
            self.down = nn.Dense(12, 6)
            self.act = nn.GELU()

        def construct(self, x):
            return x + self.down(self.act(self.up(x)))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.SequentialCell(*(Block() for _ in range(5)))

        def construct(self, x):
            return self.blocks(x).sum()

    return Net()


def torch_net():
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.up = nn.Linear(6, 12)
            self.down = nn.Linear(12, 6)
            self.act = nn.GELU()

        def forward(self, x):
            return x + self.down(self.act(self.up(x)))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.Sequential(*(Block() for _ in range(5)))

        def forward(self, x):
            return self.blocks(x).sum()

    return Net()
