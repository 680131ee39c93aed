"""A variational autoencoder with a normal likelihood, a bounded variance and a weight on the divergence."""

import numpy as np

OUTPUTS = ("loss", "mean")
CONSTANTS = ("noise",)


def inputs():
    random = np.random.default_rng(122)
    return {
        "x": random.normal(size=(4, 6)).astype(np.float32),
        "noise": random.normal(size=(4, 3)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class VAE(nn.Cell):
        def __init__(self, features=6, hidden=8, dim=3):
            super().__init__()
            self.encode = nn.Dense(features, hidden)
            self.parts = nn.Dense(hidden, 2 * dim)
            self.decode = nn.Dense(dim, hidden)
            self.out = nn.Dense(hidden, features)

        def construct(self, x, noise):
            hidden = ops.elu(self.encode(x))
            mu, logvar = ops.chunk(self.parts(hidden), 2, axis=1)
            logvar = ops.clamp(logvar, min=-0.2, max=0.2)
            z = mu + ops.exp(0.5 * logvar) * noise
            mean = self.out(ops.mish(self.decode(z)))
            error = 0.5 * (x - mean).square() / 0.25
            likelihood = error.sum(1).mean()
            divergence = 0.5 * (mu.square() + ops.exp(logvar) - logvar - 1.0)
            loss = likelihood + 4.0 * divergence.sum(1).mean()
            return loss, mean

    return VAE()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class VAE(nn.Module):
        def __init__(self, features=6, hidden=8, dim=3):
            super().__init__()
            self.encode = nn.Linear(features, hidden)
            self.parts = nn.Linear(hidden, 2 * dim)
            self.decode = nn.Linear(dim, hidden)
            self.out = nn.Linear(hidden, features)

        def forward(self, x, noise):
            hidden = F.elu(self.encode(x))
            mu, logvar = self.parts(hidden).chunk(2, dim=1)
            logvar = torch.clamp(logvar, min=-0.2, max=0.2)
            z = mu + torch.exp(0.5 * logvar) * noise
            mean = self.out(F.mish(self.decode(z)))
            error = 0.5 * (x - mean).pow(2) / 0.25
            likelihood = error.sum(1).mean()
            divergence = 0.5 * (mu.pow(2) + torch.exp(logvar) - logvar - 1.0)
            loss = likelihood + 4.0 * divergence.sum(1).mean()
            return loss, mean

    return VAE()
