"""Layers and functions whose settings are not the defaults, and a subclass of a layer."""

import numpy as np

TRAIN = True


def inputs():
    return {"x": np.linspace(-1, 1, 2 * 3 * 6 * 6, dtype=np.float32).reshape(2, 3, 6, 6)}


def mindspore_net():
    from mindspore import nn, ops

    class Normed(nn.BatchNorm2d):
        """A layer with a setting of its own."""

        def __init__(self, channels):
            super().__init__(channels, eps=2e-3, momentum=0.7)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, stride=2, pad_mode="pad", padding=1, has_bias=False)
            self.norm = Normed(4)
            self.act = nn.GELU(approximate=True)
            self.pool = nn.AvgPool2d(kernel_size=2, stride=1)

        def construct(self, x):
            hidden = self.pool(self.act(self.norm(self.conv(x))))
            share = ops.softmax(hidden, axis=1)
            return share.sum(axis=(0, 3), keepdims=True).mean()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Normed(nn.BatchNorm2d):
        def __init__(self, channels):
            super().__init__(channels, eps=2e-3, momentum=0.3)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1, bias=False)
            self.norm = Normed(4)
            self.act = nn.GELU(approximate="tanh")
            self.pool = nn.AvgPool2d(kernel_size=2, stride=1)

        def forward(self, x):
            hidden = self.pool(self.act(self.norm(self.conv(x))))
            share = torch.softmax(hidden, dim=1)
            return share.sum(dim=(0, 3), keepdim=True).mean()

    return Net()
