"""Residual blocks of convolutions and batch norms, fifty of them."""

import numpy as np

OUTPUTS = ("loss", "logits")
TRAIN = True
BLOCKS = 50


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(2, 3, 16, 16)).astype(np.float32),
        "y": np.array([2, 0], np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1)
            self.bn1 = nn.BatchNorm2d(8)
            self.conv2 = nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1)
            self.bn2 = nn.BatchNorm2d(8)

        def construct(self, x):
            return ops.relu(x + self.bn2(self.conv2(ops.relu(self.bn1(self.conv1(x))))))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1)
            self.blocks = nn.SequentialCell([Block() for _ in range(BLOCKS)])
            self.fc = nn.Dense(8, 10)
            self.loss = nn.CrossEntropyLoss()

        def construct(self, x, y):
            logits = self.fc(self.blocks(self.stem(x)).mean((2, 3)))
            return self.loss(logits, y), logits

    return Net()
