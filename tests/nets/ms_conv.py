"""Convolution, batch norm, ReLU, max pooling, dense layer and cross entropy, in training mode."""

import numpy as np

OUTPUTS = ("loss", "logits")
TRAIN = True


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(2, 3, 8, 8)).astype(np.float32),
        "y": np.array([2, 0], np.int32),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True)
            self.bn = nn.BatchNorm2d(4)
            self.relu = nn.ReLU()
            self.pool = nn.MaxPool2d(2, stride=2)
            self.flatten = nn.Flatten()
            self.fc = nn.Dense(64, 3)
            self.loss = nn.CrossEntropyLoss()

        def construct(self, x, y):
            features = self.relu(self.bn(self.conv(x)))
            logits = self.fc(self.flatten(self.pool(features)))
            return self.loss(logits, y), logits

    return Net()
