"""A dense layer along the second dimension, as in an MLP-Mixer: its gradient arrives transposed."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 5)

        def construct(self, x):
            mixed = self.fc(x.swapaxes(1, 2)).swapaxes(1, 2)
            return (mixed * mixed).sum()

    return Net()
