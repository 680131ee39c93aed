"""A contrastive loss over two views.

Modelled on SimCLR (Chen et al., "A simple framework for contrastive learning of visual
representations", 2020): two views of each sample go through one encoder, are put on the unit sphere,
and each must find its other view among all the rest (NT-Xent).

Watch the diagonal, which must be masked before the softmax since each vector is most similar to
itself, and the temperature, which divides. Norms are cut off below: `F.normalize` at 1e-12 by a
maximum, others add an epsilon under the root.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(23)
    return {
        "view1": random.normal(size=(3, 6)).astype(np.float32),
        "view2": random.normal(size=(3, 6)).astype(np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class SimCLR(nn.Cell):
        def __init__(self, temperature=0.5):
            super().__init__()
            self.encoder = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU())
            self.projector = nn.SequentialCell(nn.Dense(8, 8), nn.ReLU(), nn.Dense(8, 4))
            self.temperature = temperature
            self.normalize = ops.L2Normalize(axis=1, epsilon=1e-12)

        def construct(self, view1, view2):
            n = view1.shape[0]
            x = ops.cat((view1, view2), axis=0)
            z = self.normalize(self.projector(self.encoder(x)))
            similarity = ops.matmul(z, z.T) / self.temperature
            itself = ops.eye(2 * n, 2 * n, ms.bool_)
            similarity = ops.masked_fill(similarity, itself, -1e9)
            other = ops.cat((ops.arange(n, 2 * n), ops.arange(n))).astype(ms.int32)
            return ops.cross_entropy(similarity, other)

    return SimCLR()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class SimCLR(nn.Module):
        def __init__(self, temperature=0.5):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
            self.projector = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
            self.temperature = temperature

        def forward(self, view1, view2):
            n = view1.size(0)
            x = torch.cat([view1, view2], dim=0)
            z = F.normalize(self.projector(self.encoder(x)), dim=1)
            similarity = z @ z.t() / self.temperature
            itself = torch.eye(2 * n, dtype=torch.bool, device=z.device)
            similarity = similarity.masked_fill(itself, -1e9)
            other = torch.arange(2 * n, device=z.device).roll(n)
            return F.cross_entropy(similarity, other)

    return SimCLR()


def jax_net():
    import jax
    import jax.numpy as jnp

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def net(params, view1, view2, temperature=0.5):
        n = len(view1)
        x = jax.nn.relu(dense(params, "encoder.0", jnp.concatenate([view1, view2])))
        z = dense(params, "projector.2", jax.nn.relu(dense(params, "projector.0", x)))
        z = z / jnp.maximum(jnp.linalg.norm(z, axis=1, keepdims=True), 1e-12)
        similarity = z @ z.T / temperature
        similarity = jnp.where(jnp.eye(2 * n, dtype=bool), -1e9, similarity)
        other = jnp.roll(jnp.arange(2 * n), n)
        scores = jax.nn.log_softmax(similarity)
        return -jnp.take_along_axis(scores, other[:, None], axis=1).mean()

    return net
