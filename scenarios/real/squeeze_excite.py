"""A squeeze-and-excitation block.

Modelled on SENet (Hu et al., "Squeeze-and-excitation networks", 2017) with the activations of
EfficientNet (Tan and Le, 2019): each channel is averaged, two small layers make a gate between zero
and one of the averages, and the gate scales the channel.

Watch the product of gate and features: its backward reduces over height and width on one side only.
SiLU, called Swish in the paper, and the sigmoid of the gate are easily taken for their cheap "hard"
relatives, which differ by a few percent and go unnoticed in a loss. MindSpore's `nn.SmoothL1Loss` does
not reduce unless told, hence its `.mean()`.
"""

import numpy as np

CONSTANTS = ("target",)


def inputs():
    random = np.random.default_rng(4)
    return {
        "x": random.normal(size=(2, 6, 5, 5)).astype(np.float32),
        "target": random.normal(size=(2, 6, 5, 5)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class SqueezeExcite(nn.Cell):
        def __init__(self, channels, reduction=2):
            super().__init__()
            self.fc1 = nn.Conv2d(channels, channels // reduction, 1, has_bias=True)
            self.fc2 = nn.Conv2d(channels // reduction, channels, 1, has_bias=True)
            self.act = nn.SiLU()
            self.gate = nn.Sigmoid()

        def construct(self, x):
            scale = ops.mean(x, (2, 3), keep_dims=True)
            scale = self.fc2(self.act(self.fc1(scale)))
            return x * self.gate(scale)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(6, 6, 3, pad_mode="same", has_bias=True)
            self.act = nn.SiLU()
            self.se = SqueezeExcite(6)
            self.loss = nn.SmoothL1Loss(beta=1.0)

        def construct(self, x, target):
            out = x + self.se(self.act(self.conv(x)))
            return self.loss(out, target).mean()

    return Net()


def torch_net():
    from torch import nn

    class SqueezeExcite(nn.Module):
        def __init__(self, channels, reduction=2):
            super().__init__()
            self.fc1 = nn.Conv2d(channels, channels // reduction, 1)
            self.fc2 = nn.Conv2d(channels // reduction, channels, 1)
            self.act = nn.SiLU()
            self.gate = nn.Sigmoid()

        def forward(self, x):
            scale = x.mean((2, 3), keepdim=True)
            scale = self.fc2(self.act(self.fc1(scale)))
            return x * self.gate(scale)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(6, 6, 3, padding="same")
            self.act = nn.SiLU()
            self.se = SqueezeExcite(6)
            self.loss = nn.SmoothL1Loss(beta=1.0)

        def forward(self, x, target):
            out = x + self.se(self.act(self.conv(x)))
            return self.loss(out, target)

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x):
        x = lax.conv_general_dilated(x, params[f"{name}.weight"], (1, 1), "SAME")
        return x + params[f"{name}.bias"][:, None, None]

    def squeeze_excite(params, x):
        scale = x.mean((2, 3), keepdims=True)
        scale = conv(params, "se.fc2", jax.nn.silu(conv(params, "se.fc1", scale)))
        return x * jax.nn.sigmoid(scale)

    def net(params, x, target):
        out = x + squeeze_excite(params, jax.nn.silu(conv(params, "conv", x)))
        error = jnp.abs(out - target)
        return jnp.where(error < 1.0, 0.5 * error**2, error - 0.5).mean()

    return net
