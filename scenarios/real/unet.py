"""A U-Net of two levels with a dice loss.

Modelled on U-Net (Ronneberger et al., 2015), whose way up is a transposed convolution, with the loss
of V-Net (Milletari et al., 2016) beside the cross entropy, as segmentation code has it.

Watch the junction: what comes from the left is put *before* what comes from below, in this code, and
the weights of the next convolution stand in that order. A transposed convolution holds its weight as
(in, out, height, width) in both frameworks. The dice loss divides two sums over each mask; a sum over
the whole batch instead is another loss of nearly the same value.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("mask",)


def inputs():
    random = np.random.default_rng(8)
    return {
        "image": random.normal(size=(2, 1, 8, 8)).astype(np.float32),
        "mask": (random.normal(size=(2, 1, 8, 8)) > 0.3).astype(np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class DoubleConv(nn.Cell):
        def __init__(self, in_channels, channels):
            super().__init__()
            self.conv1 = nn.Conv2d(
                in_channels, channels, 3, pad_mode="pad", padding=1, has_bias=True
            )
            self.conv2 = nn.Conv2d(channels, channels, 3, pad_mode="pad", padding=1, has_bias=True)

        def construct(self, x):
            return ops.relu(self.conv2(ops.relu(self.conv1(x))))

    class DiceLoss(nn.Cell):
        def __init__(self, smooth=1.0):
            super().__init__()
            self.smooth = smooth

        def construct(self, probs, mask):
            overlap = (probs * mask).sum((1, 2, 3))
            total = probs.sum((1, 2, 3)) + mask.sum((1, 2, 3))
            dice = (2.0 * overlap + self.smooth) / (total + self.smooth)
            return 1.0 - dice.mean()

    class UNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inc = DoubleConv(1, 3)
            self.pool = nn.MaxPool2d(2, stride=2)
            self.down = DoubleConv(3, 6)
            self.up = nn.Conv2dTranspose(6, 3, 2, stride=2, pad_mode="valid", has_bias=True)
            self.conv = DoubleConv(6, 3)
            self.outc = nn.Conv2d(3, 1, 1, pad_mode="valid", has_bias=True)
            self.bce = nn.BCEWithLogitsLoss()
            self.dice = DiceLoss()

        def construct(self, image, mask):
            mask = mask.astype(ms.float32)
            skip = self.inc(image)
            x = self.down(self.pool(skip))
            x = ops.cat((skip, self.up(x)), axis=1)
            logits = self.outc(self.conv(x))
            loss = self.bce(logits, mask) + self.dice(ops.sigmoid(logits), mask)
            return loss, logits

    return UNet()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class DoubleConv(nn.Module):
        def __init__(self, in_channels, channels):
            super().__init__()
            self.conv1 = nn.Conv2d(in_channels, channels, 3, padding=1)
            self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

        def forward(self, x):
            return F.relu(self.conv2(F.relu(self.conv1(x))))

    class DiceLoss(nn.Module):
        def __init__(self, smooth=1.0):
            super().__init__()
            self.smooth = smooth

        def forward(self, probs, mask):
            overlap = (probs * mask).sum((1, 2, 3))
            total = probs.sum((1, 2, 3)) + mask.sum((1, 2, 3))
            dice = (2.0 * overlap + self.smooth) / (total + self.smooth)
            return 1.0 - dice.mean()

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.inc = DoubleConv(1, 3)
            self.pool = nn.MaxPool2d(2)
            self.down = DoubleConv(3, 6)
            self.up = nn.ConvTranspose2d(6, 3, kernel_size=2, stride=2)
            self.conv = DoubleConv(6, 3)
            self.outc = nn.Conv2d(3, 1, kernel_size=1)
            self.bce = nn.BCEWithLogitsLoss()
            self.dice = DiceLoss()

        def forward(self, image, mask):
            mask = mask.float()
            skip = self.inc(image)
            x = self.down(self.pool(skip))
            x = torch.cat([skip, self.up(x)], dim=1)
            logits = self.outc(self.conv(x))
            loss = self.bce(logits, mask) + self.dice(torch.sigmoid(logits), mask)
            return loss, logits

    return UNet()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x):
        x = lax.conv_general_dilated(x, params[f"{name}.weight"], (1, 1), "SAME")
        return x + params[f"{name}.bias"][:, None, None]

    def double_conv(params, name, x):
        x = jax.nn.relu(conv(params, f"{name}.conv1", x))
        return jax.nn.relu(conv(params, f"{name}.conv2", x))

    def up(params, x):
        # Each side is padded by kernel - 1 - padding = 1.
        x = lax.conv_transpose(
            x,
            params["up.weight"],
            strides=(2, 2),
            padding=[(1, 1), (1, 1)],
            dimension_numbers=("NCHW", "OIHW", "NCHW"),
            transpose_kernel=True,
        )
        return x + params["up.bias"][:, None, None]

    def bce(logits, mask):
        log_p, log_not_p = jax.nn.log_sigmoid(logits), jax.nn.log_sigmoid(-logits)
        return -(mask * log_p + (1 - mask) * log_not_p).mean()

    def dice_loss(probs, mask, smooth=1.0):
        overlap = (probs * mask).sum((1, 2, 3))
        total = probs.sum((1, 2, 3)) + mask.sum((1, 2, 3))
        return 1.0 - ((2.0 * overlap + smooth) / (total + smooth)).mean()

    def unet(params, image, mask):
        mask = mask.astype(image.dtype)
        skip = double_conv(params, "inc", image)
        window = (1, 1, 2, 2)
        pooled = lax.reduce_window(skip, -jnp.inf, lax.max, window, window, "VALID")
        x = up(params, double_conv(params, "down", pooled))
        x = double_conv(params, "conv", jnp.concatenate([skip, x], axis=1))
        logits = conv(params, "outc", x)
        return bce(logits, mask) + dice_loss(jax.nn.sigmoid(logits), mask), logits

    return unet
