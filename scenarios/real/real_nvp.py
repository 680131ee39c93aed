"""Affine coupling layers of a normalising flow.

Modelled on RealNVP (Dinh et al., "Density estimation using Real NVP", 2016): one half of the vector
scales and shifts the other, then they change places; the loss is the negative log-likelihood under a
standard normal, which adds up the logarithms of all scales.

Watch the logarithm of the determinant, which has the opposite sign in the opposite direction, and the
tanh that keeps the scales small. A flow that forgets the term learns to shrink everything to zero.
"""

import numpy as np

OUTPUTS = ("loss", "z")


def inputs():
    random = np.random.default_rng(30)
    return {"x": random.normal(size=(3, 4)).astype(np.float32)}


def mindspore_net():
    import math

    from mindspore import nn, ops

    class Coupling(nn.Cell):
        def __init__(self, dim, hidden):
            super().__init__()
            self.scale = nn.SequentialCell(
                nn.Dense(dim, hidden), nn.LeakyReLU(0.01), nn.Dense(hidden, dim), nn.Tanh()
            )
            self.shift = nn.SequentialCell(
                nn.Dense(dim, hidden), nn.LeakyReLU(0.01), nn.Dense(hidden, dim)
            )

        def construct(self, x):
            kept, changed = ops.chunk(x, 2, axis=1)
            s = self.scale(kept)
            changed = changed * ops.exp(s) + self.shift(kept)
            return ops.cat((changed, kept), axis=1), s.sum(1)

    class RealNVP(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = Coupling(2, 5)
            self.second = Coupling(2, 5)

        def construct(self, x):
            z, log_det1 = self.first(x)
            z, log_det2 = self.second(z)
            log_prior = -0.5 * (z.square() + math.log(2 * math.pi)).sum(1)
            return -(log_prior + log_det1 + log_det2).mean(), z

    return RealNVP()


def torch_net():
    import math

    import torch
    from torch import nn

    class Coupling(nn.Module):
        def __init__(self, dim, hidden):
            super().__init__()
            self.scale = nn.Sequential(
                nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim), nn.Tanh()
            )
            self.shift = nn.Sequential(
                nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim)
            )

        def forward(self, x):
            kept, changed = x.chunk(2, dim=1)
            s = self.scale(kept)
            changed = changed * torch.exp(s) + self.shift(kept)
            return torch.cat([changed, kept], dim=1), s.sum(dim=1)

    class RealNVP(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Coupling(2, 5)
            self.second = Coupling(2, 5)

        def forward(self, x):
            z, log_det1 = self.first(x)
            z, log_det2 = self.second(z)
            log_prior = -0.5 * (z.pow(2) + math.log(2 * math.pi)).sum(dim=1)
            return -(log_prior + log_det1 + log_det2).mean(), z

    return RealNVP()


def jax_net():
    import math

    import jax
    import jax.numpy as jnp

    def mlp(params, name, x):
        hidden = x @ params[f"{name}.0.weight"].T + params[f"{name}.0.bias"]
        hidden = jax.nn.leaky_relu(hidden, 0.01)
        return hidden @ params[f"{name}.2.weight"].T + params[f"{name}.2.bias"]

    def coupling(params, name, x):
        kept, changed = jnp.split(x, 2, axis=1)
        s = jnp.tanh(mlp(params, f"{name}.scale", kept))
        changed = changed * jnp.exp(s) + mlp(params, f"{name}.shift", kept)
        return jnp.concatenate([changed, kept], axis=1), s.sum(1)

    def net(params, x):
        z, log_det1 = coupling(params, "first", x)
        z, log_det2 = coupling(params, "second", z)
        log_prior = -0.5 * (z**2 + math.log(2 * math.pi)).sum(1)
        return -(log_prior + log_det1 + log_det2).mean(), z

    return net
