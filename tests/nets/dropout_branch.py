"""Two branches in training mode, one of which has a dropout."""

import numpy as np

TRAIN = True
SAME_DROPOUT = False
OUTPUTS = ("loss", "clean")


def inputs():
    return {"x": np.linspace(-1, 2, 24, dtype=np.float32).reshape(3, 8)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.left = nn.Dense(8, 8)
            self.right = nn.Dense(8, 4)
            self.drop = nn.Dropout(p=0.5)

        def construct(self, x):
            dropped = self.drop(self.left(x))
            clean = ops.tanh(self.right(x)).mean()
            return (dropped * dropped).sum() + clean, clean

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.left = nn.Linear(8, 8)
            self.right = nn.Linear(8, 4)
            self.drop = nn.Dropout(p=0.5)

        def forward(self, x):
            dropped = self.drop(self.left(x))
            clean = torch.tanh(self.right(x)).mean()
            return (dropped * dropped).sum() + clean, clean

    return Net()
