"""An Inception block of four branches.

Modelled on GoogLeNet (Szegedy et al., "Going deeper with convolutions", 2014) and the average
pooling branch of Inception v3: 1×1, 3×3 and two stacked 3×3 convolutions beside a pooling, all of
one size, put side by side.

Watch the pooling branch. It pads by one, and whether the padded zeros count as elements of the mean
is a choice: both frameworks count them unless told `count_include_pad=False`, MindSpore has the
argument in `nn.AvgPool2d` only with `pad_mode="pad"`, and its `pad_mode="same"` never counts them.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(6)
    return {"x": random.normal(size=(2, 4, 5, 5)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class BasicConv2d(nn.Cell):
        def __init__(self, in_channels, channels, kernel_size, padding=0):
            super().__init__()
            self.conv = nn.Conv2d(
                in_channels, channels, kernel_size, pad_mode="pad", padding=padding
            )
            self.bn = nn.BatchNorm2d(channels, eps=0.001)

        def construct(self, x):
            return ops.relu(self.bn(self.conv(x)))

    class Inception(nn.Cell):
        def __init__(self, in_channels=4):
            super().__init__()
            self.branch1x1 = BasicConv2d(in_channels, 2, 1)
            self.branch3x3_1 = BasicConv2d(in_channels, 2, 1)
            self.branch3x3_2 = BasicConv2d(2, 3, 3, padding=1)
            self.branch_double_1 = BasicConv2d(in_channels, 2, 1)
            self.branch_double_2 = BasicConv2d(2, 3, 3, padding=1)
            self.branch_double_3 = BasicConv2d(3, 3, 3, padding=1)
            self.pool = nn.AvgPool2d(3, stride=1, pad_mode="pad", padding=1)
            self.branch_pool = BasicConv2d(in_channels, 2, 1)
            self.fc = nn.Dense(10, 1)

        def construct(self, x):
            branch1x1 = self.branch1x1(x)
            branch3x3 = self.branch3x3_2(self.branch3x3_1(x))
            double = self.branch_double_2(self.branch_double_1(x))
            double = self.branch_double_3(double)
            pooled = self.branch_pool(self.pool(x))
            out = ops.cat((branch1x1, branch3x3, double, pooled), axis=1)
            return self.fc(ops.amax(out, (2, 3))).sum()

    return Inception()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class BasicConv2d(nn.Module):
        def __init__(self, in_channels, channels, kernel_size, padding=0):
            super().__init__()
            self.conv = nn.Conv2d(in_channels, channels, kernel_size, padding=padding, bias=False)
            self.bn = nn.BatchNorm2d(channels, eps=0.001)

        def forward(self, x):
            return F.relu(self.bn(self.conv(x)))

    class Inception(nn.Module):
        def __init__(self, in_channels=4):
            super().__init__()
            self.branch1x1 = BasicConv2d(in_channels, 2, 1)
            self.branch3x3_1 = BasicConv2d(in_channels, 2, 1)
            self.branch3x3_2 = BasicConv2d(2, 3, 3, padding=1)
            self.branch_double_1 = BasicConv2d(in_channels, 2, 1)
            self.branch_double_2 = BasicConv2d(2, 3, 3, padding=1)
            self.branch_double_3 = BasicConv2d(3, 3, 3, padding=1)
            self.pool = nn.AvgPool2d(3, stride=1, padding=1)
            self.branch_pool = BasicConv2d(in_channels, 2, 1)
            self.fc = nn.Linear(10, 1)

        def forward(self, x):
            branch1x1 = self.branch1x1(x)
            branch3x3 = self.branch3x3_2(self.branch3x3_1(x))
            double = self.branch_double_2(self.branch_double_1(x))
            double = self.branch_double_3(double)
            pooled = self.branch_pool(self.pool(x))
            out = torch.cat((branch1x1, branch3x3, double, pooled), dim=1)
            return self.fc(out.amax((2, 3))).sum()

    return Inception()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv_bn_relu(params, name, x):
        x = lax.conv_general_dilated(x, params[f"{name}.conv.weight"], (1, 1), "SAME")
        mean, variance, weight, bias = (
            params[f"{name}.bn.{part}"][:, None, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        return jax.nn.relu((x - mean) * lax.rsqrt(variance + 0.001) * weight + bias)

    def net(params, x):
        branch1x1 = conv_bn_relu(params, "branch1x1", x)
        branch3x3 = conv_bn_relu(params, "branch3x3_1", x)
        branch3x3 = conv_bn_relu(params, "branch3x3_2", branch3x3)
        double = conv_bn_relu(params, "branch_double_1", x)
        double = conv_bn_relu(params, "branch_double_2", double)
        double = conv_bn_relu(params, "branch_double_3", double)
        # The zeros of the padding count in the average.
        pooled = lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 1, 1), "SAME") / 9
        pooled = conv_bn_relu(params, "branch_pool", pooled)
        out = jnp.concatenate((branch1x1, branch3x3, double, pooled), axis=1)
        return (out.max((2, 3)) @ params["fc.weight"].T + params["fc.bias"]).sum()

    return net
