"""A module under the name ``network``, which holds one of the same name, and activations like one another."""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -0.25], [1.0, 2.0]], np.float32)}


def mindspore_net():
    from mindspore import nn

    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(2, 2)
            self.act = nn.GELU()

        def construct(self, x):
            return self.act(self.fc(x)) + x

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.network = Inner()
            self.act = nn.GELU()

        def construct(self, x):
            return self.act(self.network(x))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.network = Outer()
            self.act = nn.GELU()

        def construct(self, x):
            return self.act(self.network(x)).sum()

    return Net()


def torch_net():
    from torch import nn

    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.act = nn.GELU(approximate="tanh")

        def forward(self, x):
            return self.act(self.fc(x)) + x

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.network = Inner()
            self.act = nn.GELU(approximate="tanh")

        def forward(self, x):
            return self.act(self.network(x))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.network = Outer()
            self.act = nn.GELU(approximate="tanh")

        def forward(self, x):
            return self.act(self.network(x)).sum()

    return Net()
