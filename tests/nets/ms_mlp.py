"""Two dense layers and cross entropy."""

import numpy as np

OUTPUTS = ("loss", "logits")


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(4, 6)).astype(np.float32),
        "y": np.array([0, 2, 1, 2], np.int32),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Dense(6, 5)
            self.act = nn.ReLU()
            self.out = nn.Dense(5, 3)
            self.loss = nn.CrossEntropyLoss()

        def construct(self, x, y):
            logits = self.out(self.act(self.hidden(x)))
            return self.loss(logits, y), logits

    return Net()
