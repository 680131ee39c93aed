"""A dense layer that rounds to bfloat16 inside, as mixed precision does."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(3).standard_normal((6, 8)).astype(np.float32)}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 5)

        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                hidden = self.fc(x)
            return hidden.float().tanh().sum()

    return Net()
