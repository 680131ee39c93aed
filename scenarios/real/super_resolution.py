"""Super resolution by pixel shuffle.

Modelled on ESPCN (Shi et al., "Real-time single image and video super-resolution using an efficient
sub-pixel convolutional neural network", 2016): all convolutions work on the small image, the last
gives r² channels for each pixel, and a shuffle lays them out as r × r pixels.

Watch which of the r² channels becomes which pixel: the shuffle takes (channels, r, r) apart, depth
to space of other libraries takes (r, r, channels). A shuffle that is wrong in this way keeps shape,
mean and norm of everything.
"""

import numpy as np

CONSTANTS = ("large",)


def inputs():
    random = np.random.default_rng(9)
    return {
        "small": random.uniform(size=(2, 1, 4, 4)).astype(np.float32),
        "large": random.uniform(size=(2, 1, 8, 8)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class ESPCN(nn.Cell):
        def __init__(self, upscale_factor=2):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 4, 5, pad_mode="pad", padding=2, has_bias=True)
            self.conv2 = nn.Conv2d(4, 4, 3, pad_mode="pad", padding=1, has_bias=True)
            self.conv3 = nn.Conv2d(
                4, upscale_factor**2, 3, pad_mode="pad", padding=1, has_bias=True
            )
            self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
            self.loss = nn.L1Loss()

        def construct(self, small, large):
            x = ops.tanh(self.conv1(small))
            x = ops.tanh(self.conv2(x))
            x = self.pixel_shuffle(self.conv3(x))
            return self.loss(x, large)

    return ESPCN()


def torch_net():
    import torch
    from torch import nn

    class ESPCN(nn.Module):
        def __init__(self, upscale_factor=2):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 4, 5, padding=2)
            self.conv2 = nn.Conv2d(4, 4, 3, padding=1)
            self.conv3 = nn.Conv2d(4, upscale_factor**2, 3, padding=1)
            self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
            self.loss = nn.L1Loss()

        def forward(self, small, large):
            x = torch.tanh(self.conv1(small))
            x = torch.tanh(self.conv2(x))
            x = self.pixel_shuffle(self.conv3(x))
            return self.loss(x, large)

    return ESPCN()


def jax_net():
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x):
        x = lax.conv_general_dilated(x, params[f"{name}.weight"], (1, 1), "SAME")
        return x + params[f"{name}.bias"][:, None, None]

    def pixel_shuffle(x, r):
        b, c, h, w = x.shape
        x = x.reshape(b, c // r**2, r, r, h, w).transpose(0, 1, 4, 2, 5, 3)
        return x.reshape(b, c // r**2, h * r, w * r)

    def net(params, small, large):
        x = jnp.tanh(conv(params, "conv1", small))
        x = jnp.tanh(conv(params, "conv2", x))
        x = pixel_shuffle(conv(params, "conv3", x), 2)
        return jnp.abs(x - large).mean()

    return net
