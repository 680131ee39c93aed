"""Blocks that change their input by a part in a hundred thousand, and norms between them."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(5).standard_normal((2, 6, 1, 1)).astype(np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.norm1 = nn.GroupNorm(1, 6)
            self.pool = nn.AvgPool2d(3, pad_mode="same")
            self.norm2 = nn.GroupNorm(1, 6)
            self.conv = nn.Conv2d(6, 6, 1)
            self.scale = ms.Parameter(ms.Tensor(np.full((1, 6, 1, 1), 1e-5, np.float32)))

        def construct(self, x):
            x = x + self.scale * self.pool(self.norm1(x))
            return x + self.scale * self.conv(self.norm2(x))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.blocks = nn.SequentialCell([Block(), Block()])
            self.last = nn.GroupNorm(1, 6)

        def construct(self, x):
            return self.last(self.blocks(x)).square().sum()

    return Net()
