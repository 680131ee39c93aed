"""Hidden values that MindSpore's net alone rounds to float16 and back."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(3).standard_normal((6, 8)).astype(np.float32)}


def parameters():
    drawn = np.random.default_rng(5)
    return {
        "one.weight": drawn.uniform(-0.35, 0.35, (5, 8)).astype(np.float32),
        "one.bias": drawn.uniform(-0.35, 0.35, 5).astype(np.float32),
        "two.weight": drawn.uniform(-0.35, 0.35, (4, 5)).astype(np.float32),
        "two.bias": drawn.uniform(-0.35, 0.35, 4).astype(np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.one = nn.Dense(8, 5)
            self.two = nn.Dense(5, 4)

        def construct(self, x):
            hidden = self.one(x)
            hidden = ops.tanh(hidden).astype(ms.float16).astype(ms.float32)
            return self.two(hidden).square().mean()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = nn.Linear(8, 5)
            self.two = nn.Linear(5, 4)

        def forward(self, x):
            hidden = self.one(x)
            return self.two(torch.tanh(hidden)).square().mean()

    return Net()
