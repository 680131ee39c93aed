"""A dense block with its transition.

Modelled on DenseNet (Huang et al., "Densely connected convolutional networks", 2016): every layer
sees all the feature maps before it, put side by side, and adds a few of its own; a transition halves
channels and size.

Watch the order in which feature maps stand side by side, which decides which weight meets which
channel, and the many gradients that meet in the first map: one from each later layer. Average
pooling in the transition has no padding here, so that what it counts does not matter.
"""

import numpy as np

TRAIN = True


def inputs():
    random = np.random.default_rng(5)
    return {"x": random.normal(size=(3, 4, 6, 6)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class DenseLayer(nn.Cell):
        def __init__(self, in_channels, growth):
            super().__init__()
            self.norm = nn.BatchNorm2d(in_channels)
            self.relu = nn.ReLU()
            self.conv = nn.Conv2d(in_channels, growth, 3, pad_mode="pad", padding=1)

        def construct(self, x):
            return self.conv(self.relu(self.norm(x)))

    class Net(nn.Cell):
        def __init__(self, in_channels=4, growth=2):
            super().__init__()
            self.layer1 = DenseLayer(in_channels, growth)
            self.layer2 = DenseLayer(in_channels + growth, growth)
            self.layer3 = DenseLayer(in_channels + 2 * growth, growth)
            channels = in_channels + 3 * growth
            self.norm = nn.BatchNorm2d(channels)
            self.conv = nn.Conv2d(channels, channels // 2, 1, pad_mode="valid")
            self.pool = nn.AvgPool2d(2, stride=2)

        def construct(self, x):
            features = x
            features = ops.cat((features, self.layer1(features)), axis=1)
            features = ops.cat((features, self.layer2(features)), axis=1)
            features = ops.cat((features, self.layer3(features)), axis=1)
            out = self.pool(self.conv(ops.relu(self.norm(features))))
            return ops.square(out).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class DenseLayer(nn.Module):
        def __init__(self, in_channels, growth):
            super().__init__()
            self.norm = nn.BatchNorm2d(in_channels)
            self.relu = nn.ReLU(inplace=True)
            self.conv = nn.Conv2d(in_channels, growth, 3, padding=1, bias=False)

        def forward(self, x):
            return self.conv(self.relu(self.norm(x)))

    class Net(nn.Module):
        def __init__(self, in_channels=4, growth=2):
            super().__init__()
            self.layer1 = DenseLayer(in_channels, growth)
            self.layer2 = DenseLayer(in_channels + growth, growth)
            self.layer3 = DenseLayer(in_channels + 2 * growth, growth)
            channels = in_channels + 3 * growth
            self.norm = nn.BatchNorm2d(channels)
            self.conv = nn.Conv2d(channels, channels // 2, 1, bias=False)
            self.pool = nn.AvgPool2d(2, stride=2)

        def forward(self, x):
            features = x
            features = torch.cat((features, self.layer1(features)), dim=1)
            features = torch.cat((features, self.layer2(features)), dim=1)
            features = torch.cat((features, self.layer3(features)), dim=1)
            out = self.pool(self.conv(F.relu(self.norm(features))))
            return out.pow(2).sum()

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def norm_relu(params, name, x):
        mean = x.mean((0, 2, 3), keepdims=True)
        normal = (x - mean) * lax.rsqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
        weight, bias = params[f"{name}.weight"], params[f"{name}.bias"]
        return jax.nn.relu(normal * weight[:, None, None] + bias[:, None, None])

    def conv(params, name, x):
        return lax.conv_general_dilated(x, params[f"{name}.weight"], (1, 1), "SAME")

    def net(params, x):
        for layer in ("layer1", "layer2", "layer3"):
            grown = conv(params, f"{layer}.conv", norm_relu(params, f"{layer}.norm", x))
            x = jnp.concatenate((x, grown), axis=1)
        out = conv(params, "conv", norm_relu(params, "norm", x))
        window = (1, 1, 2, 2)
        pooled = lax.reduce_window(out, 0.0, lax.add, window, window, "VALID") / 4
        return (pooled**2).sum()

    return net
