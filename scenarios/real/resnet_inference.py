"""A residual stack in inference mode.

Modelled on the basic blocks of ResNet-18 (He et al., "Deep residual learning for image
recognition", 2015): two convolutions with batch norm, a sum with the input, and where the number of
channels or the size changes, a 1×1 convolution on the way round.

Watch the running statistics, which are what inference normalises with: they are no weights, and a
checkpoint that is converted without them looks right until it is used. MindSpore calls them
`moving_mean` and `moving_variance`. Its `nn.Conv2d` pads by `pad_mode="same"` unless told, which on
an even size with stride 2 pads on the right only, where PyTorch's `padding=1` pads on both sides.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)


def inputs():
    random = np.random.default_rng(0)
    return {
        "image": random.normal(size=(2, 3, 8, 8)).astype(np.float32),
        "label": np.array([1, 3], np.int32),
    }


def mindspore_net():
    from mindspore import nn

    class BasicBlock(nn.Cell):
        def __init__(self, in_channels, channels, stride=1):
            super().__init__()
            self.conv1 = nn.Conv2d(
                in_channels, channels, 3, stride=stride, pad_mode="pad", padding=1
            )
            self.bn1 = nn.BatchNorm2d(channels, eps=1e-5)
            self.conv2 = nn.Conv2d(channels, channels, 3, pad_mode="pad", padding=1)
            self.bn2 = nn.BatchNorm2d(channels, eps=1e-5)
            self.relu = nn.ReLU()
            self.downsample = None
            if stride != 1 or in_channels != channels:
                self.downsample = nn.SequentialCell(
                    nn.Conv2d(in_channels, channels, 1, stride=stride, pad_mode="valid"),
                    nn.BatchNorm2d(channels, eps=1e-5),
                )

        def construct(self, x):
            identity = x
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            if self.downsample is not None:
                identity = self.downsample(x)
            out = out + identity
            return self.relu(out)

    class ResNet(nn.Cell):
        def __init__(self, num_classes=5):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1)
            self.bn1 = nn.BatchNorm2d(4, eps=1e-5)
            self.relu = nn.ReLU()
            self.layer1 = BasicBlock(4, 4)
            self.layer2 = BasicBlock(4, 6, stride=2)
            self.fc = nn.Dense(6, num_classes)
            self.loss = nn.CrossEntropyLoss()

        def construct(self, image, label):
            x = self.relu(self.bn1(self.conv1(image)))
            x = self.layer2(self.layer1(x))
            x = x.mean((2, 3))
            logits = self.fc(x)
            return self.loss(logits, label), logits

    return ResNet()


def torch_net():
    import torch
    from torch import nn

    class BasicBlock(nn.Module):
        def __init__(self, in_channels, channels, stride=1):
            super().__init__()
            self.conv1 = nn.Conv2d(in_channels, channels, 3, stride=stride, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(channels)
            self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(channels)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = None
            if stride != 1 or in_channels != channels:
                self.downsample = nn.Sequential(
                    nn.Conv2d(in_channels, channels, 1, stride=stride, bias=False),
                    nn.BatchNorm2d(channels),
                )

        def forward(self, x):
            identity = x
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            if self.downsample is not None:
                identity = self.downsample(x)
            out += identity
            return self.relu(out)

    class ResNet(nn.Module):
        def __init__(self, num_classes=5):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(4)
            self.relu = nn.ReLU(inplace=True)
            self.layer1 = BasicBlock(4, 4)
            self.layer2 = BasicBlock(4, 6, stride=2)
            self.fc = nn.Linear(6, num_classes)
            self.criterion = nn.CrossEntropyLoss()
            # What a checkpoint would bring along.
            for module in self.modules():
                if isinstance(module, nn.BatchNorm2d):
                    nn.init.uniform_(module.running_mean, -0.5, 0.5)
                    nn.init.uniform_(module.running_var, 0.2, 2.0)

        def forward(self, image, label):
            x = self.relu(self.bn1(self.conv1(image)))
            x = self.layer2(self.layer1(x))
            x = torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1)
            logits = self.fc(x)
            return self.criterion(logits, label.long()), logits

    return ResNet()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x, stride=1):
        weight = params[f"{name}.weight"]
        padding = [(weight.shape[-1] // 2,) * 2] * 2
        return lax.conv_general_dilated(x, weight, (stride, stride), padding)

    def batch_norm(params, name, x):
        mean, variance, weight, bias = (
            params[f"{name}.{part}"][:, None, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) * lax.rsqrt(variance + 1e-5) * weight + bias

    def block(params, name, x, stride=1):
        out = conv(params, f"{name}.conv1", x, stride)
        out = jax.nn.relu(batch_norm(params, f"{name}.bn1", out))
        out = batch_norm(params, f"{name}.bn2", conv(params, f"{name}.conv2", out))
        if stride != 1:
            x = conv(params, f"{name}.downsample.0", x, stride)
            x = batch_norm(params, f"{name}.downsample.1", x)
        return jax.nn.relu(out + x)

    def net(params, image, label):
        x = jax.nn.relu(batch_norm(params, "bn1", conv(params, "conv1", image)))
        x = block(params, "layer2", block(params, "layer1", x), stride=2)
        logits = x.mean((2, 3)) @ params["fc.weight"].T + params["fc.bias"]
        scores = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(scores, label[:, None], axis=1).mean(), logits

    return net
