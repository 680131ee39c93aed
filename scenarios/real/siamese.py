"""A siamese net with a contrastive loss.

Modelled on Hadsell et al., "Dimensionality reduction by learning an invariant mapping" (2006): two
inputs go through one net; equal pairs are drawn together, unequal ones pushed apart up to a margin.

Watch the clamp: pairs farther apart than the margin get no gradient. One net is used twice, so each of
its weights collects two gradients. The distance has an epsilon under its root, since the root has no
derivative at zero; without it, two equal inputs give NaN.
"""

import numpy as np

CONSTANTS = ("unequal",)


def inputs():
    random = np.random.default_rng(26)
    return {
        "left": random.normal(size=(3, 5)).astype(np.float32),
        "right": random.normal(size=(3, 5)).astype(np.float32),
        "unequal": np.array([0, 1, 1], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Siamese(nn.Cell):
        def __init__(self, margin=0.1):
            super().__init__()
            self.branch = nn.SequentialCell(nn.Dense(5, 8), nn.Sigmoid(), nn.Dense(8, 3))
            self.margin = margin

        def construct(self, left, right, unequal):
            y = unequal.astype(ms.float32)
            difference = self.branch(left) - self.branch(right)
            distance = ops.sqrt(ops.square(difference).sum(1) + 1e-6)
            apart = ops.clamp(self.margin - distance, min=0.0)
            return ((1 - y) * distance.square() + y * apart.square()).mean()

    return Siamese()


def torch_net():
    import torch
    from torch import nn

    class Siamese(nn.Module):
        def __init__(self, margin=0.1):
            super().__init__()
            self.branch = nn.Sequential(nn.Linear(5, 8), nn.Sigmoid(), nn.Linear(8, 3))
            self.margin = margin

        def forward(self, left, right, unequal):
            y = unequal.float()
            difference = self.branch(left) - self.branch(right)
            distance = torch.sqrt(difference.pow(2).sum(1) + 1e-6)
            apart = torch.clamp(self.margin - distance, min=0.0)
            return ((1 - y) * distance.pow(2) + y * apart.pow(2)).mean()

    return Siamese()


def jax_net():
    import jax
    import jax.numpy as jnp

    def branch(params, x):
        hidden = jax.nn.sigmoid(x @ params["branch.0.weight"].T + params["branch.0.bias"])
        return hidden @ params["branch.2.weight"].T + params["branch.2.bias"]

    def net(params, left, right, unequal, margin=0.1):
        y = unequal.astype(left.dtype)
        difference = branch(params, left) - branch(params, right)
        distance = jnp.sqrt((difference**2).sum(1) + 1e-6)
        apart = jnp.maximum(margin - distance, 0.0)
        return ((1 - y) * distance**2 + y * apart**2).mean()

    return net
