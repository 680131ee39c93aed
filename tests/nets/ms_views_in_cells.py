"""A view that one Cell takes of what another one has made, and a third reads."""

import numpy as np


def inputs():
    rng = np.random.default_rng(0)
    return {"x": rng.standard_normal((4, 6)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Last(nn.Cell):
        def construct(self, x):
            return x[:, -1]  # a view

    class Head(nn.Cell):
        def construct(self, x):
            return ops.sin(x).sum()

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.body = nn.Tanh()
            self.last = Last()
            self.head = Head()

        def construct(self, x):
            h = self.body(x)
            last = self.last(h)
            return self.head(last)

    return Net()
