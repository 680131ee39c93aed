"""A ConvNeXt block.

Modelled on ConvNeXt (Liu et al., "A ConvNet for the 2020s", 2022): a large depthwise convolution, a
layer norm over channels, two pointwise layers with GELU between, a learned scale of each channel,
and a residual connection.

Watch the axes. The block normalises over channels, so it moves them last, does its dense layers
there and moves them back; over any other axes a layer norm of the same size passes without a word.
The learned scale begins at 1e-6 in the paper, so that the block's gradients are tiny at first: a
mistake inside them hides below any fixed absolute tolerance. Here it begins at 0.1.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(7)
    return {"x": random.normal(size=(2, 6, 6, 6)).astype(np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import Parameter, nn, ops

    class Block(nn.Cell):
        def __init__(self, dim=6, layer_scale=0.1):
            super().__init__()
            self.dwconv = nn.Conv2d(
                dim, dim, 5, pad_mode="pad", padding=2, group=dim, has_bias=True
            )
            self.norm = nn.LayerNorm((dim,), epsilon=1e-6)
            self.pwconv1 = nn.Dense(dim, 2 * dim)
            self.act = nn.GELU(approximate=False)
            self.pwconv2 = nn.Dense(2 * dim, dim)
            self.scale = Parameter(layer_scale * ops.ones((dim,), ms.float32))

        def construct(self, x):
            shortcut = x
            x = self.dwconv(x)
            x = ops.transpose(x, (0, 2, 3, 1))
            x = self.pwconv2(self.act(self.pwconv1(self.norm(x))))
            x = self.scale * x
            x = ops.transpose(x, (0, 3, 1, 2))
            x = shortcut + x
            return (x * x * x).mean()

    return Block()


def torch_net():
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, dim=6, layer_scale=0.1):
            super().__init__()
            self.dwconv = nn.Conv2d(dim, dim, kernel_size=5, padding=2, groups=dim)
            self.norm = nn.LayerNorm(dim, eps=1e-6)
            self.pwconv1 = nn.Linear(dim, 2 * dim)
            self.act = nn.GELU()
            self.pwconv2 = nn.Linear(2 * dim, dim)
            self.scale = nn.Parameter(layer_scale * torch.ones(dim))

        def forward(self, x):
            shortcut = x
            x = self.dwconv(x)
            x = x.permute(0, 2, 3, 1)
            x = self.pwconv2(self.act(self.pwconv1(self.norm(x))))
            x = self.scale * x
            x = x.permute(0, 3, 1, 2)
            x = shortcut + x
            return (x * x * x).mean()

    return Block()


def jax_net():
    import jax
    from jax import lax

    def net(params, x):
        shortcut = x
        padding = [(2, 2), (2, 2)]
        x = lax.conv_general_dilated(
            x, params["dwconv.weight"], (1, 1), padding, feature_group_count=x.shape[1]
        )
        x = x + params["dwconv.bias"][:, None, None]
        x = x.transpose(0, 2, 3, 1)
        centred = x - x.mean(-1, keepdims=True)
        x = centred * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
        x = x * params["norm.weight"] + params["norm.bias"]
        x = x @ params["pwconv1.weight"].T + params["pwconv1.bias"]
        x = jax.nn.gelu(x, approximate=False)
        x = x @ params["pwconv2.weight"].T + params["pwconv2.bias"]
        x = params["scale"] * x
        x = shortcut + x.transpose(0, 3, 1, 2)
        return (x * x * x).mean()

    return net
