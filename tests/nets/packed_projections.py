"""Three projections are one packed layer: in PyTorch in the first block, in MindSpore in the second."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    def attended(q, k, v):
        return ops.softmax(q @ k.swapaxes(-2, -1), -1) @ v

    class Split(nn.Cell):
        def __init__(self):
            super().__init__()
            self.q = nn.Dense(4, 4)
            self.k = nn.Dense(4, 4)
            self.v = nn.Dense(4, 4)

        def construct(self, x):
            return attended(self.q(x), self.k(x), self.v(x))

    class Packed(nn.Cell):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Dense(4, 18)

        def construct(self, x):
            qkv = self.qkv(x)
            return attended(qkv[..., :6], qkv[..., 6:12], qkv[..., 12:])

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one = Split()
            self.two = Packed()
            self.scale = ms.Parameter(ms.Tensor(np.full((1, 1, 4), 0.5, np.float32)))
            self.reduce = nn.Dense(6, 2)

        def construct(self, x):
            x = x + self.scale * self.one(x)
            return self.reduce(self.two(x))

    return Net()


def torch_net():
    import torch
    from torch import nn

    def attended(q, k, v):
        return torch.softmax(q @ k.mT, -1) @ v

    class Split(nn.Module):
        def __init__(self):
            super().__init__()
            self.query = nn.Linear(4, 6)
            self.key = nn.Linear(4, 6)
            self.value = nn.Linear(4, 6)

        def forward(self, x):
            return attended(self.query(x), self.key(x), self.value(x))

    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.in_proj = nn.Linear(4, 12)

        def forward(self, x):
            return attended(*self.in_proj(x).chunk(3, -1))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Packed()
            self.second = Split()
            self.gain = nn.Parameter(torch.full((4,), 0.5))
            self.conv = nn.Conv1d(6, 2, 1)

        def forward(self, x):
            x = x + self.gain * self.first(x)
            return self.conv(self.second(x).mT).mT

    return Net()
