"""A transposed convolution with output_padding, which MindSpore fills with zeros, and one more layer."""

import numpy as np


def inputs():
    return {"x": np.random.default_rng(3).standard_normal((1, 2, 3, 3)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.up = nn.Conv2dTranspose(
                2, 2, 3, stride=2, pad_mode="pad", padding=1, output_padding=1, has_bias=True
            )
            self.out = nn.Conv2d(2, 2, 3, pad_mode="pad", padding=1, has_bias=True)

        def construct(self, x):
            y = self.out(ops.tanh(self.up(x)))
            return (y * y).mean()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.up = nn.ConvTranspose2d(2, 2, 3, stride=2, padding=1, output_padding=1)
            self.out = nn.Conv2d(2, 2, 3, padding=1)

        def forward(self, x):
            y = self.out(torch.tanh(self.up(x)))
            return (y * y).mean()

    return Net()
