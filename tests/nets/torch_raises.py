"""A forward whose shapes do not fit."""

import numpy as np


def inputs():
    return {"x": np.ones((2, 3), np.float32)}


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 1)

        def forward(self, x):
            return self.fc(x)

    return Net()
