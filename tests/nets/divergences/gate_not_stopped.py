"""A gate whose input MindSpore's net detaches, and PyTorch's does not."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(2).standard_normal((4, 6)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(6, 6)
            self.gate = nn.Dense(6, 6)

        def construct(self, x):
            h = self.fc(x)
            g = ops.sigmoid(self.gate(ops.stop_gradient(h)))
            return (h * g).mean()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 6)
            self.gate = nn.Linear(6, 6)

        def forward(self, x):
            h = self.fc(x)
            g = torch.sigmoid(self.gate(h))
            return (h * g).mean()

    return Net()
