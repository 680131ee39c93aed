"""A target that holds nan: the loss is nan, and then every gradient."""

import numpy as np

CONSTANTS = ("t",)


def inputs():
    return {
        "x": np.array([[1.0, 2.0]], np.float32),
        "t": np.array([[0.5, np.nan]], np.float32),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(2, 2)

        def construct(self, x, t):
            error = self.fc(x) - t
            return (error * error).mean()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)

        def forward(self, x, t):
            error = self.fc(x) - t
            return (error * error).mean()

    return Net()
