"""Padding that cannot be split evenly.

A 3×3 convolution with stride 2 on a 4×4 image needs one row and one column of zeros to give 2×2,
and one cannot be halved. MindSpore's `pad_mode="same"`, the default of its `Conv2d`, puts what is
left over at the bottom and the right. PyTorch refuses `padding="same"` with a stride; the usual
substitute, `padding=1`, puts one on **each** side, and as the last window no longer reaches the far
side, the zeros that count are at the top and the left. Both give 2×2. No shape tells them apart,
every number does: the windows are shifted by one pixel, and so are the gradients.

To agree with MindSpore, PyTorch pads by hand, `(0, 1, 0, 1)` for left, right, top and bottom, and
convolves without padding; that is what stands here. The other way round, MindSpore copies PyTorch
with `pad_mode="pad", padding=1`. The gradient of a padding is a crop: what flows into the zeros is
cut off.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(0)
    return {"x": random.normal(size=(1, 1, 4, 4)).round(2).astype(np.float32)}


def parameters():
    return {
        "conv.weight": np.array(
            [[[[1.0, 2.0, -1.0], [0.5, -2.0, 1.5], [3.0, 0.25, -0.5]]]], np.float32
        )
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 1, 3, stride=2, pad_mode="same")

        def construct(self, x):
            y = self.conv(x)
            return (y * y).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.pad = nn.ZeroPad2d((0, 1, 0, 1))
            self.conv = nn.Conv2d(1, 1, 3, stride=2, bias=False)

        def forward(self, x):
            y = self.conv(self.pad(x))
            return (y * y).sum()

    return Net()


def jax_net():
    from jax import lax

    def net(params, x):
        y = lax.conv_general_dilated(x, params["conv.weight"], (2, 2), "SAME")
        return (y * y).sum()

    return net
