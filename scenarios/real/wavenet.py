"""Dilated causal convolutions with gates.

Modelled on WaveNet (van den Oord et al., 2016): each layer is padded on the left only, sees twice as
far back as the one before, multiplies a tanh by a sigmoid, and hands one sum to the next layer and
one to the output.

Watch the padding, which makes the net causal: dilation times (kernel size − 1) zeros before the
sequence and none behind it. `pad_mode="same"`, MindSpore's default, looks into the future.
`nn.Conv1d` of MindSpore keeps its weight with a dimension more than PyTorch's.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(18)
    return {"wave": random.normal(size=(2, 1, 10)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Layer(nn.Cell):
        def __init__(self, channels, dilation):
            super().__init__()
            self.left = dilation
            self.filter = nn.Conv1d(
                channels, channels, 2, dilation=dilation, pad_mode="valid", has_bias=True
            )
            self.gate = nn.Conv1d(
                channels, channels, 2, dilation=dilation, pad_mode="valid", has_bias=True
            )
            self.residual = nn.Conv1d(channels, channels, 1, pad_mode="valid", has_bias=True)
            self.skip = nn.Conv1d(channels, channels, 1, pad_mode="valid", has_bias=True)

        def construct(self, x):
            padded = ops.pad(x, (self.left, 0))
            hidden = ops.tanh(self.filter(padded)) * ops.sigmoid(self.gate(padded))
            return x + self.residual(hidden), self.skip(hidden)

    class WaveNet(nn.Cell):
        def __init__(self, channels=3):
            super().__init__()
            self.start = nn.Conv1d(1, channels, 1, pad_mode="valid", has_bias=True)
            self.layer1 = Layer(channels, dilation=1)
            self.layer2 = Layer(channels, dilation=2)
            self.end = nn.Conv1d(channels, 1, 1, pad_mode="valid", has_bias=True)

        def construct(self, wave):
            x = self.start(wave)
            x, skip1 = self.layer1(x)
            x, skip2 = self.layer2(x)
            predicted = self.end(ops.relu(skip1 + skip2))
            error = predicted[:, :, :-1] - wave[:, :, 1:]
            return error.square().mean()

    return WaveNet()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Layer(nn.Module):
        def __init__(self, channels, dilation):
            super().__init__()
            self.left = dilation
            self.filter = nn.Conv1d(channels, channels, 2, dilation=dilation)
            self.gate = nn.Conv1d(channels, channels, 2, dilation=dilation)
            self.residual = nn.Conv1d(channels, channels, 1)
            self.skip = nn.Conv1d(channels, channels, 1)

        def forward(self, x):
            padded = F.pad(x, (self.left, 0))
            hidden = torch.tanh(self.filter(padded)) * torch.sigmoid(self.gate(padded))
            return x + self.residual(hidden), self.skip(hidden)

    class WaveNet(nn.Module):
        def __init__(self, channels=3):
            super().__init__()
            self.start = nn.Conv1d(1, channels, 1)
            self.layer1 = Layer(channels, dilation=1)
            self.layer2 = Layer(channels, dilation=2)
            self.end = nn.Conv1d(channels, 1, 1)

        def forward(self, wave):
            x = self.start(wave)
            x, skip1 = self.layer1(x)
            x, skip2 = self.layer2(x)
            predicted = self.end(F.relu(skip1 + skip2))
            error = predicted[:, :, :-1] - wave[:, :, 1:]
            return error.pow(2).mean()

    return WaveNet()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(params, name, x, left=0, dilation=1):
        weight = params[f"{name}.weight"]
        x = lax.conv_general_dilated(x, weight, (1,), [(left, 0)], rhs_dilation=(dilation,))
        return x + params[f"{name}.bias"][:, None]

    def layer(params, name, x, dilation):
        hidden = jnp.tanh(conv(params, f"{name}.filter", x, dilation, dilation))
        hidden = hidden * jax.nn.sigmoid(conv(params, f"{name}.gate", x, dilation, dilation))
        return x + conv(params, f"{name}.residual", hidden), conv(params, f"{name}.skip", hidden)

    def net(params, wave):
        x = conv(params, "start", wave)
        x, skip1 = layer(params, "layer1", x, dilation=1)
        x, skip2 = layer(params, "layer2", x, dilation=2)
        predicted = conv(params, "end", jax.nn.relu(skip1 + skip2))
        return ((predicted[:, :, :-1] - wave[:, :, 1:]) ** 2).mean()

    return net
