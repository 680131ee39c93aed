"""A triplet loss over embeddings of one net.

Modelled on FaceNet (Schroff et al., 2015): anchor, positive and negative go through the same net, the
embeddings are normalised, and the loss is positive while the negative is not farther than the
positive by a margin.

Watch the distances. FaceNet squares them, PyTorch's `nn.TripletMarginLoss` does not and adds 1e-6
inside the norm. MindSpore has no CPU kernel for its own `nn.TripletMarginLoss` (2.10), so both sides
write the loss out. A triplet that is well apart has no gradient at all.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(24)
    return {
        "anchor": random.normal(size=(3, 5)).astype(np.float32),
        "positive": random.normal(size=(3, 5)).astype(np.float32),
        "negative": random.normal(size=(3, 5)).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class EmbeddingNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(5, 8)
            self.act = nn.PReLU(1, 0.25)
            self.fc2 = nn.Dense(8, 4)

        def construct(self, x):
            x = self.fc2(self.act(self.fc1(x)))
            return x / ops.sqrt(x.square().sum(1, keepdims=True))

    class TripletNet(nn.Cell):
        def __init__(self, margin=1.0):
            super().__init__()
            self.embed = EmbeddingNet()
            self.margin = margin

        def construct(self, anchor, positive, negative):
            a, p, n = self.embed(anchor), self.embed(positive), self.embed(negative)
            near = (a - p).square().sum(1)
            far = (a - n).square().sum(1)
            return ops.relu(near - far + self.margin).mean()

    return TripletNet()


def torch_net():
    from torch import nn
    from torch.nn import functional as F

    class EmbeddingNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(5, 8)
            self.act = nn.PReLU()
            self.fc2 = nn.Linear(8, 4)

        def forward(self, x):
            x = self.fc2(self.act(self.fc1(x)))
            return x / x.pow(2).sum(1, keepdim=True).sqrt()

    class TripletNet(nn.Module):
        def __init__(self, margin=1.0):
            super().__init__()
            self.embed = EmbeddingNet()
            self.margin = margin

        def forward(self, anchor, positive, negative):
            a, p, n = self.embed(anchor), self.embed(positive), self.embed(negative)
            near = (a - p).pow(2).sum(1)
            far = (a - n).pow(2).sum(1)
            return F.relu(near - far + self.margin).mean()

    return TripletNet()


def jax_net():
    import jax
    import jax.numpy as jnp

    def net(params, anchor, positive, negative, margin=1.0):
        def embed(x):
            x = x @ params["embed.fc1.weight"].T + params["embed.fc1.bias"]
            x = jnp.where(x > 0, x, params["embed.act.weight"] * x)
            x = x @ params["embed.fc2.weight"].T + params["embed.fc2.bias"]
            return x / jnp.linalg.norm(x, axis=1, keepdims=True)

        a, p, n = embed(anchor), embed(positive), embed(negative)
        near = ((a - p) ** 2).sum(1)
        far = ((a - n) ** 2).sum(1)
        return jax.nn.relu(near - far + margin).mean()

    return net
