"""Dilated convolutions side by side, and a bilinear way up.

Modelled on the atrous spatial pyramid pooling of DeepLabv3 (Chen et al., 2017): a 1×1 convolution, two
3×3 convolutions with dilations 2 and 3, a mean over the whole image that is spread out again, a 1×1
convolution over all of them, and bilinear interpolation to the size of the mask.

Watch `align_corners`, False in DeepLab and by default in PyTorch: with True the corner pixels of both
sizes fall on each other and all others shift. MindSpore's `ops.interpolate` has the same argument and
default. Padding equals dilation, so that size is kept.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("mask",)


def inputs():
    random = np.random.default_rng(36)
    return {
        "features": random.normal(size=(2, 4, 5, 5)).astype(np.float32),
        "mask": random.integers(0, 3, size=(2, 10, 10)).astype(np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class ASPP(nn.Cell):
        def __init__(self, in_channels=4, channels=3):
            super().__init__()
            self.conv1 = nn.Conv2d(in_channels, channels, 1, pad_mode="valid")
            self.conv2 = nn.Conv2d(in_channels, channels, 3, pad_mode="pad", padding=2, dilation=2)
            self.conv3 = nn.Conv2d(in_channels, channels, 3, pad_mode="pad", padding=3, dilation=3)
            self.pooling = nn.Conv2d(in_channels, channels, 1, pad_mode="valid")
            self.project = nn.Conv2d(4 * channels, channels, 1, pad_mode="valid")

        def construct(self, x):
            pooled = ops.relu(self.pooling(x.mean((2, 3), keep_dims=True)))
            pooled = ops.broadcast_to(pooled, (-1, -1, x.shape[2], x.shape[3]))
            branches = (
                ops.relu(self.conv1(x)),
                ops.relu(self.conv2(x)),
                ops.relu(self.conv3(x)),
                pooled,
            )
            return ops.relu(self.project(ops.cat(branches, axis=1)))

    class DeepLabHead(nn.Cell):
        def __init__(self, num_classes=3):
            super().__init__()
            self.aspp = ASPP()
            self.classifier = nn.Conv2d(3, num_classes, 1, has_bias=True)

        def construct(self, features, mask):
            x = self.classifier(self.aspp(features))
            logits = ops.interpolate(x, size=mask.shape[1:], mode="bilinear", align_corners=False)
            return ops.cross_entropy(logits, mask), logits

    return DeepLabHead()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class ASPP(nn.Module):
        def __init__(self, in_channels=4, channels=3):
            super().__init__()
            self.conv1 = nn.Conv2d(in_channels, channels, 1, bias=False)
            self.conv2 = nn.Conv2d(in_channels, channels, 3, padding=2, dilation=2, bias=False)
            self.conv3 = nn.Conv2d(in_channels, channels, 3, padding=3, dilation=3, bias=False)
            self.pooling = nn.Conv2d(in_channels, channels, 1, bias=False)
            self.project = nn.Conv2d(4 * channels, channels, 1, bias=False)

        def forward(self, x):
            pooled = F.relu(self.pooling(x.mean((2, 3), keepdim=True)))
            pooled = pooled.expand(-1, -1, x.size(2), x.size(3))
            branches = [
                F.relu(self.conv1(x)),
                F.relu(self.conv2(x)),
                F.relu(self.conv3(x)),
                pooled,
            ]
            return F.relu(self.project(torch.cat(branches, dim=1)))

    class DeepLabHead(nn.Module):
        def __init__(self, num_classes=3):
            super().__init__()
            self.aspp = ASPP()
            self.classifier = nn.Conv2d(3, num_classes, 1)

        def forward(self, features, mask):
            x = self.classifier(self.aspp(features))
            logits = F.interpolate(x, size=mask.shape[-2:], mode="bilinear", align_corners=False)
            return F.cross_entropy(logits, mask.long()), logits

    return DeepLabHead()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x, dilation=1):
        weight = params[f"{name}.weight"]
        return lax.conv_general_dilated(
            x, weight, (1, 1), "SAME", rhs_dilation=(dilation, dilation)
        )

    def aspp(params, x):
        pooled = conv(params, "aspp.pooling", x.mean((2, 3), keepdims=True))
        pooled = jnp.broadcast_to(pooled, (*pooled.shape[:2], *x.shape[2:]))
        branches = [
            conv(params, "aspp.conv1", x),
            conv(params, "aspp.conv2", x, dilation=2),
            conv(params, "aspp.conv3", x, dilation=3),
            pooled,
        ]
        branches = jax.nn.relu(jnp.concatenate(branches, axis=1))
        return jax.nn.relu(conv(params, "aspp.project", branches))

    def net(params, features, mask):
        x = conv(params, "classifier", aspp(params, features))
        x = x + params["classifier.bias"][:, None, None]
        logits = jax.image.resize(x, (*x.shape[:2], *mask.shape[1:]), "bilinear")
        scores = jax.nn.log_softmax(logits, axis=1)
        return -jnp.take_along_axis(scores, mask[:, None], axis=1).mean(), logits

    return net
