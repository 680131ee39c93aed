"""A bottleneck block behind a stem with max pooling.

Modelled on ResNet-50 (He et al., 2015; the stride in the 3×3 convolution, as torchvision has it,
"ResNet v1.5"): a 1×1 convolution makes the channels fewer, a 3×3 one works on few, a third makes
them four times as many.

Watch where the stride is: the paper has it in the first convolution, most code in the second, the
shapes are the same either way. The max pooling of the stem pads by one, which MindSpore's
`nn.MaxPool2d` takes only with `pad_mode="pad"`; both fill up with minus infinity and not with zero.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(1)
    return {"image": random.normal(size=(2, 3, 12, 12)).astype(np.float32)}


TRAIN = True


def mindspore_net():
    from mindspore import nn

    class Bottleneck(nn.Cell):
        expansion = 4

        def __init__(self, in_channels, channels, stride=1):
            super().__init__()
            out_channels = channels * self.expansion
            self.conv1 = nn.Conv2d(in_channels, channels, 1, pad_mode="valid")
            self.bn1 = nn.BatchNorm2d(channels)
            self.conv2 = nn.Conv2d(channels, channels, 3, stride, pad_mode="pad", padding=1)
            self.bn2 = nn.BatchNorm2d(channels)
            self.conv3 = nn.Conv2d(channels, out_channels, 1, pad_mode="valid")
            self.bn3 = nn.BatchNorm2d(out_channels)
            self.relu = nn.ReLU()
            self.downsample = nn.SequentialCell(
                nn.Conv2d(in_channels, out_channels, 1, stride, pad_mode="valid"),
                nn.BatchNorm2d(out_channels),
            )

        def construct(self, x):
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.relu(self.bn2(self.conv2(out)))
            out = self.bn3(self.conv3(out))
            return self.relu(out + self.downsample(x))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3, 1, pad_mode="pad", padding=1)
            self.bn1 = nn.BatchNorm2d(4)
            self.relu = nn.ReLU()
            self.maxpool = nn.MaxPool2d(3, stride=2, pad_mode="pad", padding=1)
            self.block = Bottleneck(4, 2, stride=2)

        def construct(self, image):
            x = self.maxpool(self.relu(self.bn1(self.conv1(image))))
            x = self.block(x)
            return (x * x).mean()

    return Net()


def torch_net():
    from torch import nn

    class Bottleneck(nn.Module):
        expansion = 4

        def __init__(self, in_channels, channels, stride=1):
            super().__init__()
            out_channels = channels * self.expansion
            self.conv1 = nn.Conv2d(in_channels, channels, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(channels)
            self.conv2 = nn.Conv2d(channels, channels, 3, stride, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(channels)
            self.conv3 = nn.Conv2d(channels, out_channels, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(out_channels)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = nn.Sequential(
                nn.Conv2d(in_channels, out_channels, 1, stride, bias=False),
                nn.BatchNorm2d(out_channels),
            )

        def forward(self, x):
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.relu(self.bn2(self.conv2(out)))
            out = self.bn3(self.conv3(out))
            return self.relu(out + self.downsample(x))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3, 1, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(4)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
            self.block = Bottleneck(4, 2, stride=2)

        def forward(self, image):
            x = self.maxpool(self.relu(self.bn1(self.conv1(image))))
            x = self.block(x)
            return (x * x).mean()

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x, stride=1, padding=0):
        weight = params[f"{name}.weight"]
        return lax.conv_general_dilated(x, weight, (stride, stride), [(padding, padding)] * 2)

    def batch_norm(params, name, x):
        mean = x.mean((0, 2, 3), keepdims=True)
        normal = (x - mean) * lax.rsqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
        weight, bias = params[f"{name}.weight"], params[f"{name}.bias"]
        return normal * weight[:, None, None] + bias[:, None, None]

    def block(params, x, stride=2):
        out = jax.nn.relu(batch_norm(params, "block.bn1", conv(params, "block.conv1", x)))
        out = conv(params, "block.conv2", out, stride, padding=1)
        out = jax.nn.relu(batch_norm(params, "block.bn2", out))
        out = batch_norm(params, "block.bn3", conv(params, "block.conv3", out))
        shortcut = conv(params, "block.downsample.0", x, stride)
        return jax.nn.relu(out + batch_norm(params, "block.downsample.1", shortcut))

    def net(params, image):
        x = jax.nn.relu(batch_norm(params, "bn1", conv(params, "conv1", image, padding=1)))
        padding = [(0, 0), (0, 0), (1, 1), (1, 1)]
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), padding)
        x = block(params, x)
        return (x * x).mean()

    return net
