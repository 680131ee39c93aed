"""Variance, invariance, covariance: self-supervision without negatives.

Modelled on VICReg (Bardes et al., 2021): two views of each sample are to have equal embeddings, each
dimension is to keep a spread of at least one over the batch, and no two dimensions are to say the
same.

Watch what variances divide by. `var` and `std` of PyTorch divide by n − 1 unless told; numpy and
MindSpore's `ops.var` by n. On large batches nobody sees the difference; here the batch is four. The
covariance divides by n − 1 and leaves its diagonal out.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(39)
    return {
        "view1": random.normal(size=(4, 5)).astype(np.float32),
        "view2": random.normal(size=(4, 5)).astype(np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class VICReg(nn.Cell):
        def __init__(self, dim=4, sim_coeff=25.0, std_coeff=25.0, cov_coeff=1.0):
            super().__init__()
            self.dim = dim
            self.encoder = nn.SequentialCell(nn.Dense(5, 6), nn.ReLU(), nn.Dense(6, dim))
            self.sim_coeff = sim_coeff
            self.std_coeff = std_coeff
            self.cov_coeff = cov_coeff
            self.off_diagonal = ms.Tensor(1.0 - np.eye(dim), ms.float32)

        def spread(self, z):
            std = ops.sqrt(ops.var(z, axis=0, ddof=1) + 1e-4)
            return ops.relu(1.0 - std).mean()

        def redundancy(self, z):
            z = z - z.mean(0)
            cov = ops.matmul(z.T, z) / (z.shape[0] - 1)
            return (cov * self.off_diagonal).square().sum() / self.dim

        def construct(self, view1, view2):
            z1, z2 = self.encoder(view1), self.encoder(view2)
            sim_loss = ops.mse_loss(z1, z2)
            std_loss = (self.spread(z1) + self.spread(z2)) / 2
            cov_loss = self.redundancy(z1) + self.redundancy(z2)
            return self.sim_coeff * sim_loss + self.std_coeff * std_loss + self.cov_coeff * cov_loss

    return VICReg()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class VICReg(nn.Module):
        def __init__(self, dim=4, sim_coeff=25.0, std_coeff=25.0, cov_coeff=1.0):
            super().__init__()
            self.dim = dim
            self.encoder = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, dim))
            self.sim_coeff = sim_coeff
            self.std_coeff = std_coeff
            self.cov_coeff = cov_coeff
            self.register_buffer("off_diagonal", 1.0 - torch.eye(dim), persistent=False)

        def spread(self, z):
            std = torch.sqrt(z.var(dim=0) + 1e-4)
            return F.relu(1.0 - std).mean()

        def redundancy(self, z):
            z = z - z.mean(dim=0)
            cov = z.T @ z / (z.size(0) - 1)
            return (cov * self.off_diagonal).pow(2).sum() / self.dim

        def forward(self, view1, view2):
            z1, z2 = self.encoder(view1), self.encoder(view2)
            sim_loss = F.mse_loss(z1, z2)
            std_loss = (self.spread(z1) + self.spread(z2)) / 2
            cov_loss = self.redundancy(z1) + self.redundancy(z2)
            return self.sim_coeff * sim_loss + self.std_coeff * std_loss + self.cov_coeff * cov_loss

    return VICReg()


def jax_net():
    import jax
    import jax.numpy as jnp

    def encoder(params, x):
        hidden = jax.nn.relu(x @ params["encoder.0.weight"].T + params["encoder.0.bias"])
        return hidden @ params["encoder.2.weight"].T + params["encoder.2.bias"]

    def spread(z):
        # Divided by n - 1, as in PyTorch; ddof is 0 by default.
        std = jnp.sqrt(z.var(0, ddof=1) + 1e-4)
        return jax.nn.relu(1.0 - std).mean()

    def redundancy(z):
        dim = z.shape[1]
        z = z - z.mean(0)
        cov = z.T @ z / (len(z) - 1)
        off_diagonal = 1.0 - jnp.eye(dim, dtype=z.dtype)
        return ((cov * off_diagonal) ** 2).sum() / dim

    def net(params, view1, view2):
        z1, z2 = encoder(params, view1), encoder(params, view2)
        sim_loss = ((z1 - z2) ** 2).mean()
        std_loss = (spread(z1) + spread(z2)) / 2
        cov_loss = redundancy(z1) + redundancy(z2)
        return 25.0 * sim_loss + 25.0 * std_loss + cov_loss

    return net
