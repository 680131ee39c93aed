"""A layer with a bias in MindSpore, and without one in PyTorch."""

import numpy as np


def inputs():
    return {"x": np.array([[1, 2, 3]], np.float32)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 2, weight_init="normal", bias_init="normal")

        def construct(self, x):
            return self.fc(x).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 2, bias=False)

        def forward(self, x):
            return self.fc(x).sum()

    return Net()
