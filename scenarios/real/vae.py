"""A variational autoencoder.

Modelled on Kingma and Welling, "Auto-encoding variational Bayes" (2013): the encoder gives mean and
logarithm of the variance, a sample is made of them and of given noise, the decoder gives logits, and
the loss adds the divergence from the standard normal to the reconstruction.

Watch the reductions. Both terms are sums over all elements here, as in the paper; with a mean in one
of them the balance between the two is another, and training still runs. The standard deviation is
exp(logvar / 2). The noise is an input, so that both frameworks draw the same.
"""

import numpy as np

OUTPUTS = ("loss", "reconstruction")
CONSTANTS = ("eps",)


def inputs():
    random = np.random.default_rng(12)
    return {
        "x": random.uniform(0.05, 0.95, size=(3, 6)).astype(np.float32),
        "eps": random.normal(size=(3, 2)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class VAE(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(6, 5)
            self.fc21 = nn.Dense(5, 2)
            self.fc22 = nn.Dense(5, 2)
            self.fc3 = nn.Dense(2, 5)
            self.fc4 = nn.Dense(5, 6)

        def encode(self, x):
            h1 = ops.relu(self.fc1(x))
            return self.fc21(h1), self.fc22(h1)

        def reparameterize(self, mu, logvar, eps):
            std = ops.exp(0.5 * logvar)
            return mu + eps * std

        def decode(self, z):
            h3 = ops.relu(self.fc3(z))
            return ops.sigmoid(self.fc4(h3))

        def construct(self, x, eps):
            mu, logvar = self.encode(x)
            recon = self.decode(self.reparameterize(mu, logvar, eps))
            bce = ops.binary_cross_entropy(recon, x, reduction="sum")
            kld = -0.5 * ops.reduce_sum(1 + logvar - mu.square() - logvar.exp())
            return bce + kld, recon

    return VAE()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(6, 5)
            self.fc21 = nn.Linear(5, 2)
            self.fc22 = nn.Linear(5, 2)
            self.fc3 = nn.Linear(2, 5)
            self.fc4 = nn.Linear(5, 6)

        def encode(self, x):
            h1 = F.relu(self.fc1(x))
            return self.fc21(h1), self.fc22(h1)

        def reparameterize(self, mu, logvar, eps):
            std = torch.exp(0.5 * logvar)
            return mu + eps * std

        def decode(self, z):
            h3 = F.relu(self.fc3(z))
            return torch.sigmoid(self.fc4(h3))

        def forward(self, x, eps):
            mu, logvar = self.encode(x)
            recon = self.decode(self.reparameterize(mu, logvar, eps))
            bce = F.binary_cross_entropy(recon, x, reduction="sum")
            kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
            return bce + kld, recon

    return VAE()


def jax_net():
    import jax
    import jax.numpy as jnp

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def net(params, x, eps):
        h1 = jax.nn.relu(dense(params, "fc1", x))
        mu, logvar = dense(params, "fc21", h1), dense(params, "fc22", h1)
        z = mu + eps * jnp.exp(0.5 * logvar)
        h3 = jax.nn.relu(dense(params, "fc3", z))
        recon = jax.nn.sigmoid(dense(params, "fc4", h3))
        bce = -(x * jnp.log(recon) + (1 - x) * jnp.log(1 - recon)).sum()
        kld = -0.5 * (1 + logvar - mu**2 - jnp.exp(logvar)).sum()
        return bce + kld, recon

    return net
