"""A convolutional LSTM cell over three frames.

Modelled on Shi et al., "Convolutional LSTM network: a machine learning approach for precipitation
nowcasting" (2015): one convolution over frame and state gives all four gates, and the cell remembers
an image.

Watch the order of the gates. Code that cuts one product into four must agree on what comes first:
input, forget, cell, output here and in both frameworks' own LSTM, input, forget, output, cell in
much ConvLSTM code. Sigmoids in another order still look like an LSTM. The state starts at zero.
"""

import numpy as np

OUTPUTS = ("loss", "state")
CONSTANTS = ("target",)


def inputs():
    random = np.random.default_rng(37)
    return {
        "frames": random.normal(size=(2, 3, 1, 4, 4)).astype(np.float32),
        "target": random.normal(size=(2, 2, 4, 4)).astype(np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class ConvLSTMCell(nn.Cell):
        def __init__(self, channels=1, hidden=2):
            super().__init__()
            self.conv = nn.Conv2d(
                channels + hidden, 4 * hidden, 3, pad_mode="pad", padding=1, has_bias=True
            )

        def construct(self, x, h, c):
            gates = self.conv(ops.cat((x, h), axis=1))
            i, f, g, o = ops.chunk(gates, 4, axis=1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
            h = ops.sigmoid(o) * ops.tanh(c)
            return h, c

    class ConvLSTM(nn.Cell):
        def __init__(self, hidden=2):
            super().__init__()
            self.hidden = hidden
            self.cell = ConvLSTMCell(1, hidden)

        def construct(self, frames, target):
            b, steps, _, height, width = frames.shape
            h = ops.zeros((b, self.hidden, height, width), ms.float32)
            c = ops.zeros((b, self.hidden, height, width), ms.float32)
            for step in range(steps):
                h, c = self.cell(frames[:, step], h, c)
            return ops.mse_loss(h, target), h

    return ConvLSTM()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class ConvLSTMCell(nn.Module):
        def __init__(self, channels=1, hidden=2):
            super().__init__()
            self.conv = nn.Conv2d(channels + hidden, 4 * hidden, kernel_size=3, padding=1)

        def forward(self, x, h, c):
            gates = self.conv(torch.cat([x, h], dim=1))
            i, f, g, o = gates.chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            return h, c

    class ConvLSTM(nn.Module):
        def __init__(self, hidden=2):
            super().__init__()
            self.hidden = hidden
            self.cell = ConvLSTMCell(1, hidden)

        def forward(self, frames, target):
            b, steps, _, height, width = frames.shape
            h = frames.new_zeros(b, self.hidden, height, width)
            c = frames.new_zeros(b, self.hidden, height, width)
            for step in range(steps):
                h, c = self.cell(frames[:, step], h, c)
            return F.mse_loss(h, target), h

    return ConvLSTM()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def cell(params, x, h, c):
        stacked = jnp.concatenate([x, h], axis=1)
        padding = [(1, 1), (1, 1)]
        gates = lax.conv_general_dilated(stacked, params["cell.conv.weight"], (1, 1), padding)
        gates = gates + params["cell.conv.bias"][:, None, None]
        i, f, g, o = jnp.split(gates, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return h, c

    def net(params, frames, target, hidden=2):
        b, steps, _, height, width = frames.shape
        h = c = jnp.zeros((b, hidden, height, width), frames.dtype)
        for step in range(steps):
            h, c = cell(params, frames[:, step], h, c)
        return ((h - target) ** 2).mean(), h

    return net
