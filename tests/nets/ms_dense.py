"""Dense layer with mean squared error; two outputs, so that has_aux matters."""

import numpy as np

OUTPUTS = ("loss", "logits")


def inputs():
    return {"x": np.array([[1, 2, 3]], np.float32), "y": np.array(19, np.float32)}


def parameters():
    return {"fc.weight": np.array([[2, 3, 4]], np.float32)}


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 1, has_bias=False)
            self.loss = nn.MSELoss()

        def construct(self, x, y):
            logits = self.fc(x).squeeze()
            return self.loss(logits, y), logits

    return Net()
