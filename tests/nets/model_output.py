"""Tensors in a class of its own like transformers' ModelOutput, with a cache beside them."""

from collections import OrderedDict

import numpy as np


def inputs():
    return {"x": np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)}


def parameters():
    return {"fc.weight": np.array([[0.5, -1.0], [2.0, 0.25], [1.0, 1.0]], np.float32)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(2, 3, has_bias=False)

        def construct(self, x):
            y = self.fc(x)
            return {"loss": (y * y).sum(), "logits": y}

    return Net()


class Cache:
    """What a decoder keeps for the next token."""

    def __init__(self, keys):
        self.keys = keys


class Output(OrderedDict):
    """Values by name and as attributes."""

    def __init__(self, **values):
        super().__init__(**values)
        for name, value in values.items():
            object.__setattr__(self, name, value)


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 3, bias=False)

        def forward(self, x):
            y = self.fc(x)
            return Output(loss=(y * y).sum(), logits=y, past_key_values=Cache(y))

    return Net()
