"""Inverted residuals of depthwise separable convolutions.

Modelled on MobileNetV2 (Sandler et al., 2018): a 1×1 convolution widens, a depthwise 3×3 one with as
many groups as channels filters, a 1×1 one narrows and has no activation after it. Where shape and
stride allow, the input is added.

Watch the activation: ReLU6, whose gradient is zero above six as well, and no activation at all after
the narrow layer. MindSpore calls the groups `group`, PyTorch `groups`, and both initialise a
depthwise weight of shape (channels, 1, 3, 3).
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)


def inputs():
    random = np.random.default_rng(3)
    return {
        "image": 3.0 * random.normal(size=(2, 3, 6, 6)).astype(np.float32),
        "label": np.array([0, 2], np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class ConvBNReLU(nn.SequentialCell):
        def __init__(self, in_channels, channels, kernel_size=3, stride=1, groups=1):
            super().__init__(
                nn.Conv2d(
                    in_channels,
                    channels,
                    kernel_size,
                    stride,
                    pad_mode="pad",
                    padding=(kernel_size - 1) // 2,
                    group=groups,
                ),
                nn.BatchNorm2d(channels),
                nn.ReLU6(),
            )

    class InvertedResidual(nn.Cell):
        def __init__(self, in_channels, channels, stride, expand_ratio):
            super().__init__()
            hidden = in_channels * expand_ratio
            self.use_residual = stride == 1 and in_channels == channels
            self.conv = nn.SequentialCell(
                ConvBNReLU(in_channels, hidden, kernel_size=1),
                ConvBNReLU(hidden, hidden, stride=stride, groups=hidden),
                nn.Conv2d(hidden, channels, 1, pad_mode="valid"),
                nn.BatchNorm2d(channels),
            )

        def construct(self, x):
            if self.use_residual:
                return x + self.conv(x)
            return self.conv(x)

    class MobileNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.stem = ConvBNReLU(3, 4, stride=1)
            self.block1 = InvertedResidual(4, 4, stride=1, expand_ratio=2)
            self.block2 = InvertedResidual(4, 6, stride=2, expand_ratio=2)
            self.classifier = nn.Dense(6, 3)

        def construct(self, image, label):
            x = self.block2(self.block1(self.stem(image)))
            logits = self.classifier(x.mean([2, 3]))
            return ops.cross_entropy(logits, label), logits

    return MobileNet()


def torch_net():
    from torch import nn
    from torch.nn import functional as F

    class ConvBNReLU(nn.Sequential):
        def __init__(self, in_channels, channels, kernel_size=3, stride=1, groups=1):
            super().__init__(
                nn.Conv2d(
                    in_channels,
                    channels,
                    kernel_size,
                    stride,
                    padding=(kernel_size - 1) // 2,
                    groups=groups,
                    bias=False,
                ),
                nn.BatchNorm2d(channels),
                nn.ReLU6(inplace=True),
            )

    class InvertedResidual(nn.Module):
        def __init__(self, in_channels, channels, stride, expand_ratio):
            super().__init__()
            hidden = in_channels * expand_ratio
            self.use_residual = stride == 1 and in_channels == channels
            self.conv = nn.Sequential(
                ConvBNReLU(in_channels, hidden, kernel_size=1),
                ConvBNReLU(hidden, hidden, stride=stride, groups=hidden),
                nn.Conv2d(hidden, channels, 1, bias=False),
                nn.BatchNorm2d(channels),
            )

        def forward(self, x):
            if self.use_residual:
                return x + self.conv(x)
            return self.conv(x)

    class MobileNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = ConvBNReLU(3, 4, stride=1)
            self.block1 = InvertedResidual(4, 4, stride=1, expand_ratio=2)
            self.block2 = InvertedResidual(4, 6, stride=2, expand_ratio=2)
            self.classifier = nn.Linear(6, 3)
            # What a checkpoint would bring along.
            for module in self.modules():
                if isinstance(module, nn.BatchNorm2d):
                    nn.init.uniform_(module.bias, -1.0, 1.0)
                    nn.init.uniform_(module.running_mean, -0.5, 0.5)
                    nn.init.uniform_(module.running_var, 0.02, 0.2)

        def forward(self, image, label):
            x = self.block2(self.block1(self.stem(image)))
            logits = self.classifier(x.mean([2, 3]))
            return F.cross_entropy(logits, label.long()), logits

    return MobileNet()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x, stride=1, groups=1):
        weight = params[f"{name}.weight"]
        padding = [(weight.shape[-1] // 2,) * 2] * 2
        return lax.conv_general_dilated(
            x, weight, (stride, stride), padding, feature_group_count=groups
        )

    def batch_norm(params, name, x):
        mean, variance, weight, bias = (
            params[f"{name}.{part}"][:, None, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) * lax.rsqrt(variance + 1e-5) * weight + bias

    def conv_bn_relu(params, name, x, stride=1, groups=1):
        x = conv(params, f"{name}.0", x, stride, groups)
        return jax.nn.relu6(batch_norm(params, f"{name}.1", x))

    def inverted_residual(params, name, x, stride):
        out = conv_bn_relu(params, f"{name}.0", x)
        out = conv_bn_relu(params, f"{name}.1", out, stride, groups=out.shape[1])
        return batch_norm(params, f"{name}.3", conv(params, f"{name}.2", out))

    def net(params, image, label):
        x = conv_bn_relu(params, "stem", image)
        x = x + inverted_residual(params, "block1.conv", x, stride=1)
        x = inverted_residual(params, "block2.conv", x, stride=2)
        logits = x.mean((2, 3)) @ params["classifier.weight"].T + params["classifier.bias"]
        scores = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(scores, label[:, None], axis=1).mean(), logits

    return net
