"""A layer norm in MindSpore, and a batch norm in PyTorch."""

import numpy as np


def inputs():
    return {"x": np.array([[1, 2, 3]], np.float32)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 2)
            self.norm = nn.LayerNorm((2,))

        def construct(self, x):
            return self.norm(self.dense(x)).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 2)
            self.bn = nn.BatchNorm1d(2)

        def forward(self, x):
            return self.bn(self.fc(x)).sum()

    return Net()
