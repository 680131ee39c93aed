"""A batch norm in training mode behind a layer norm: neither looks at the shapes of all of its tensors."""

import numpy as np

TRAIN = True


def inputs():
    return {"x": np.random.default_rng(3).standard_normal((8, 3)).astype(np.float32)}


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.LayerNorm(3)
            self.batch = nn.BatchNorm1d(3)

        def forward(self, x):
            h = self.batch(self.layer(x))
            return (h * h * h).sum()

    return Net()
