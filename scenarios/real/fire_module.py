"""A fire module behind a pooling that rounds up.

Modelled on SqueezeNet (Iandola et al., 2016): a 1×1 convolution squeezes, a 1×1 and a 3×3 one expand
side by side. Its poolings have `ceil_mode=True`, so that a last window may hang over the edge.

Watch the size behind the pooling: with a window of 3 and a stride of 2, 8 becomes 4 and not 3, only
because sizes are rounded up. The part of the last window that hangs over the edge is filled with minus
infinity. The classifier is a convolution, and the mean over all places comes after it.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)


def inputs():
    random = np.random.default_rng(10)
    return {
        "image": random.normal(size=(2, 3, 8, 8)).astype(np.float32),
        "label": np.array([2, 1], np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Fire(nn.Cell):
        def __init__(self, in_channels, squeeze, expand1x1, expand3x3):
            super().__init__()
            self.squeeze = nn.Conv2d(in_channels, squeeze, 1, has_bias=True)
            self.expand1x1 = nn.Conv2d(squeeze, expand1x1, 1, has_bias=True)
            self.expand3x3 = nn.Conv2d(
                squeeze, expand3x3, 3, pad_mode="pad", padding=1, has_bias=True
            )

        def construct(self, x):
            x = ops.relu(self.squeeze(x))
            left = ops.relu(self.expand1x1(x))
            right = ops.relu(self.expand3x3(x))
            return ops.cat((left, right), axis=1)

    class SqueezeNet(nn.Cell):
        def __init__(self, num_classes=3):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True)
            self.pool = nn.MaxPool2d(3, stride=2, pad_mode="pad", ceil_mode=True)
            self.fire = Fire(4, 2, 3, 3)
            self.classifier = nn.Conv2d(6, num_classes, 1, has_bias=True)

        def construct(self, image, label):
            x = self.pool(ops.relu(self.conv1(image)))
            x = self.classifier(self.fire(x))
            logits = x.mean((2, 3))
            loss = ops.nll_loss(ops.log_softmax(logits, 1), label)
            return loss, logits

    return SqueezeNet()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Fire(nn.Module):
        def __init__(self, in_channels, squeeze, expand1x1, expand3x3):
            super().__init__()
            self.squeeze = nn.Conv2d(in_channels, squeeze, kernel_size=1)
            self.expand1x1 = nn.Conv2d(squeeze, expand1x1, kernel_size=1)
            self.expand3x3 = nn.Conv2d(squeeze, expand3x3, kernel_size=3, padding=1)

        def forward(self, x):
            x = F.relu(self.squeeze(x))
            left = F.relu(self.expand1x1(x))
            right = F.relu(self.expand3x3(x))
            return torch.cat([left, right], 1)

    class SqueezeNet(nn.Module):
        def __init__(self, num_classes=3):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, kernel_size=3, padding=1)
            self.pool = nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True)
            self.fire = Fire(4, 2, 3, 3)
            self.classifier = nn.Conv2d(6, num_classes, kernel_size=1)

        def forward(self, image, label):
            x = self.pool(F.relu(self.conv1(image)))
            x = self.classifier(self.fire(x))
            logits = x.mean((2, 3))
            loss = F.nll_loss(F.log_softmax(logits, dim=1), label.long())
            return loss, logits

    return SqueezeNet()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x):
        x = lax.conv_general_dilated(x, params[f"{name}.weight"], (1, 1), "SAME")
        return x + params[f"{name}.bias"][:, None, None]

    def fire(params, x):
        x = jax.nn.relu(conv(params, "fire.squeeze", x))
        left = jax.nn.relu(conv(params, "fire.expand1x1", x))
        right = jax.nn.relu(conv(params, "fire.expand3x3", x))
        return jnp.concatenate([left, right], axis=1)

    def net(params, image, label):
        x = jax.nn.relu(conv(params, "conv1", image))
        # "SAME" adds the last, incomplete window, as ceil_mode does.
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME")
        logits = conv(params, "classifier", fire(params, x)).mean((2, 3))
        scores = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(scores, label[:, None], axis=1).mean(), logits

    return net
