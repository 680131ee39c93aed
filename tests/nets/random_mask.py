"""A net that draws random numbers: dropout in training."""

import numpy as np

TRAIN = True
SAME_DROPOUT = False


def inputs():
    return {"x": np.linspace(0.5, 2.0, 6, dtype=np.float32).reshape(2, 3)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dropout = nn.Dropout(p=0.5)

        def construct(self, x):
            return (self.dropout(x) * x).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.dropout = nn.Dropout(p=0.5)

        def forward(self, x):
            return (self.dropout(x) * x).sum()

    return Net()
