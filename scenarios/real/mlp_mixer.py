"""A mixer block: MLPs across tokens and across channels.

Modelled on Tolstikhin et al., "MLP-Mixer: an all-MLP architecture for vision" (2021): a layer norm and
an MLP along the tokens, then a layer norm and an MLP along the channels, each with its residual sum.

Watch the two transpositions around the first MLP. With as many tokens as channels nothing would stop
a port from leaving them out; here there are five of the one and six of the other.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(27)
    return {"x": random.normal(size=(2, 5, 6)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn

    class Mlp(nn.Cell):
        def __init__(self, dim, hidden):
            super().__init__()
            self.fc1 = nn.Dense(dim, hidden)
            self.act = nn.GELU(approximate=False)
            self.fc2 = nn.Dense(hidden, dim)

        def construct(self, x):
            return self.fc2(self.act(self.fc1(x)))

    class MixerBlock(nn.Cell):
        def __init__(self, tokens, channels):
            super().__init__()
            self.norm1 = nn.LayerNorm((channels,), epsilon=1e-6)
            self.mlp_tokens = Mlp(tokens, 4)
            self.norm2 = nn.LayerNorm((channels,), epsilon=1e-6)
            self.mlp_channels = Mlp(channels, 8)

        def construct(self, x):
            x = x + self.mlp_tokens(self.norm1(x).transpose(0, 2, 1)).transpose(0, 2, 1)
            x = x + self.mlp_channels(self.norm2(x))
            return x

    class Mixer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.stem = nn.Dense(6, 6)
            self.block = MixerBlock(5, 6)
            self.norm = nn.LayerNorm((6,), epsilon=1e-6)
            self.head = nn.Dense(6, 2)

        def construct(self, x):
            x = self.norm(self.block(self.stem(x)))
            x = self.head(x.mean(1))
            return (x * x).sum()

    return Mixer()


def torch_net():
    from torch import nn

    class Mlp(nn.Module):
        def __init__(self, dim, hidden):
            super().__init__()
            self.fc1 = nn.Linear(dim, hidden)
            self.act = nn.GELU()
            self.fc2 = nn.Linear(hidden, dim)

        def forward(self, x):
            return self.fc2(self.act(self.fc1(x)))

    class MixerBlock(nn.Module):
        def __init__(self, tokens, channels):
            super().__init__()
            self.norm1 = nn.LayerNorm(channels, eps=1e-6)
            self.mlp_tokens = Mlp(tokens, 4)
            self.norm2 = nn.LayerNorm(channels, eps=1e-6)
            self.mlp_channels = Mlp(channels, 8)

        def forward(self, x):
            x = x + self.mlp_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
            x = x + self.mlp_channels(self.norm2(x))
            return x

    class Mixer(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Linear(6, 6)
            self.block = MixerBlock(5, 6)
            self.norm = nn.LayerNorm(6, eps=1e-6)
            self.head = nn.Linear(6, 2)

        def forward(self, x):
            x = self.norm(self.block(self.stem(x)))
            x = self.head(x.mean(dim=1))
            return (x * x).sum()

    return Mixer()


def jax_net():
    import jax

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def norm(params, name, x):
        centred = x - x.mean(-1, keepdims=True)
        normal = centred * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
        return normal * params[f"{name}.weight"] + params[f"{name}.bias"]

    def mlp(params, name, x):
        hidden = jax.nn.gelu(dense(params, f"{name}.fc1", x), approximate=False)
        return dense(params, f"{name}.fc2", hidden)

    def mixer(params, x):
        x = dense(params, "stem", x)
        across = norm(params, "block.norm1", x).swapaxes(1, 2)
        x = x + mlp(params, "block.mlp_tokens", across).swapaxes(1, 2)
        x = x + mlp(params, "block.mlp_channels", norm(params, "block.norm2", x))
        x = dense(params, "head", norm(params, "norm", x).mean(1))
        return (x * x).sum()

    return mixer
