"""Residual blocks of convolutions and batch norms, seventy-five of them."""

import numpy as np

OUTPUTS = ("loss", "logits")
TRAIN = True
BLOCKS = 75


def inputs():
    random = np.random.default_rng(0)
    return {"x": random.normal(size=(2, 3, 16, 16)).astype(np.float32), "y": np.array([2, 0])}


def torch_net():
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(8)
            self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(8)

        def forward(self, x):
            return (x + self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))).relu()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 8, 3, padding=1)
            self.blocks = nn.Sequential(*[Block() for _ in range(BLOCKS)])
            self.fc = nn.Linear(8, 10)
            self.loss = nn.CrossEntropyLoss()

        def forward(self, x, y):
            logits = self.fc(self.blocks(self.stem(x)).mean((2, 3)))
            return self.loss(logits, y), logits

    return Net()
