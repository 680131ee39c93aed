"""A residual stack in training mode, norm first.

Modelled on the second version of ResNet (He et al., "Identity mappings in deep residual networks",
2016): batch norm and ReLU stand before each convolution, so that the way round is untouched from
the first block to the last.

Watch the side effects. In training mode every batch norm normalises with the statistics of this
batch and moves its running ones: with momentum 0.9 in MindSpore, the weight of the old, and 0.1 in
PyTorch, the weight of the new. Batch norms on small batches also multiply rounding, so two right
answers agree to fewer digits here than in inference.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)
TRAIN = True


def inputs():
    random = np.random.default_rng(0)
    return {
        "image": random.normal(size=(3, 3, 6, 6)).astype(np.float32),
        "label": np.array([1, 0, 3], np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class PreActBlock(nn.Cell):
        def __init__(self, in_channels, channels, stride=1):
            super().__init__()
            self.bn1 = nn.BatchNorm2d(in_channels, momentum=0.9)
            self.conv1 = nn.Conv2d(
                in_channels, channels, 3, stride=stride, pad_mode="pad", padding=1
            )
            self.bn2 = nn.BatchNorm2d(channels, momentum=0.9)
            self.conv2 = nn.Conv2d(channels, channels, 3, pad_mode="pad", padding=1)
            self.shortcut = None
            if stride != 1 or in_channels != channels:
                self.shortcut = nn.Conv2d(in_channels, channels, 1, stride=stride, pad_mode="valid")

        def construct(self, x):
            out = ops.relu(self.bn1(x))
            shortcut = x if self.shortcut is None else self.shortcut(out)
            out = self.conv1(out)
            out = self.conv2(ops.relu(self.bn2(out)))
            return out + shortcut

    class PreActResNet(nn.Cell):
        def __init__(self, num_classes=4):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1)
            self.layers = nn.SequentialCell(PreActBlock(4, 4), PreActBlock(4, 6, stride=2))
            self.bn = nn.BatchNorm2d(6, momentum=0.9)
            self.fc = nn.Dense(6, num_classes)

        def construct(self, image, label):
            x = self.layers(self.conv1(image))
            x = ops.relu(self.bn(x)).mean((2, 3))
            logits = self.fc(x)
            return ops.cross_entropy(logits, label), logits

    return PreActResNet()


def torch_net():
    from torch import nn
    from torch.nn import functional as F

    class PreActBlock(nn.Module):
        def __init__(self, in_channels, channels, stride=1):
            super().__init__()
            self.bn1 = nn.BatchNorm2d(in_channels, momentum=0.1)
            self.conv1 = nn.Conv2d(in_channels, channels, 3, stride=stride, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(channels, momentum=0.1)
            self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.shortcut = None
            if stride != 1 or in_channels != channels:
                self.shortcut = nn.Conv2d(in_channels, channels, 1, stride=stride, bias=False)

        def forward(self, x):
            out = F.relu(self.bn1(x))
            shortcut = x if self.shortcut is None else self.shortcut(out)
            out = self.conv1(out)
            out = self.conv2(F.relu(self.bn2(out)))
            return out + shortcut

    class PreActResNet(nn.Module):
        def __init__(self, num_classes=4):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
            self.layers = nn.Sequential(PreActBlock(4, 4), PreActBlock(4, 6, stride=2))
            self.bn = nn.BatchNorm2d(6, momentum=0.1)
            self.fc = nn.Linear(6, num_classes)

        def forward(self, image, label):
            x = self.layers(self.conv1(image))
            x = F.relu(self.bn(x)).mean((2, 3))
            logits = self.fc(x)
            return F.cross_entropy(logits, label.long()), logits

    return PreActResNet()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x, stride=1):
        weight = params[f"{name}.weight"]
        padding = [(weight.shape[-1] // 2,) * 2] * 2
        return lax.conv_general_dilated(x, weight, (stride, stride), padding)

    def norm_relu(params, name, x):
        mean = x.mean((0, 2, 3), keepdims=True)
        normal = (x - mean) * lax.rsqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
        weight, bias = params[f"{name}.weight"], params[f"{name}.bias"]
        return jax.nn.relu(normal * weight[:, None, None] + bias[:, None, None])

    def block(params, name, x, stride=1):
        out = norm_relu(params, f"{name}.bn1", x)
        shortcut = x if stride == 1 else conv(params, f"{name}.shortcut", out, stride)
        out = conv(params, f"{name}.conv1", out, stride)
        return conv(params, f"{name}.conv2", norm_relu(params, f"{name}.bn2", out)) + shortcut

    def net(params, image, label):
        x = block(params, "layers.0", conv(params, "conv1", image))
        x = block(params, "layers.1", x, stride=2)
        x = norm_relu(params, "bn", x).mean((2, 3))
        logits = x @ params["fc.weight"].T + params["fc.bias"]
        scores = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(scores, label[:, None], axis=1).mean(), logits

    return net
