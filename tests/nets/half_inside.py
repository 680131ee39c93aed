"""A dense layer that rounds to float16 inside, as mixed precision does."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(3).standard_normal((6, 8)).astype(np.float32)}


def parameters():
    drawn = np.random.default_rng(5)
    return {
        "fc.weight": drawn.uniform(-0.35, 0.35, (5, 8)).astype(np.float32),
        "fc.bias": drawn.uniform(-0.35, 0.35, 5).astype(np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(8, 5).to_float(ms.float16)

        def construct(self, x):
            hidden = self.fc(x)
            return ops.tanh(hidden.astype(ms.float32)).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 5)

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.float16):
                hidden = self.fc(x)
            return hidden.float().tanh().sum()

    return Net()
