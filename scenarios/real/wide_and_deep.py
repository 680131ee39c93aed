"""A wide linear model beside a deep one.

Modelled on Cheng et al., "Wide & deep learning for recommender systems" (2016): crossed features go
straight to the logit, numbers and embeddings go through a deep net, and both are trained together on
one logistic loss, with a small L2 penalty on the wide weights.

Watch the penalty, which frameworks put in different places: here it is part of the loss, so that the
gradient shows it; as `weight_decay` of an optimiser it would not.
"""

import numpy as np

OUTPUTS = ("loss", "probability")
CONSTANTS = ("crossed", "category", "label")


def inputs():
    random = np.random.default_rng(20)
    return {
        "crossed": (random.uniform(size=(3, 6)) > 0.5).astype(np.float32),
        "numbers": random.normal(size=(3, 3)).astype(np.float32),
        "category": np.array([1, 4, 2], np.int32),
        "label": np.array([0, 1, 1], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class WideDeep(nn.Cell):
        def __init__(self):
            super().__init__()
            self.wide = nn.Dense(6, 1, has_bias=False)
            self.embedding = nn.Embedding(5, 3)
            self.fc1 = nn.Dense(6, 8)
            self.fc2 = nn.Dense(8, 4)
            self.out = nn.Dense(4, 1)
            self.loss = nn.BCELoss(reduction="mean")

        def construct(self, crossed, numbers, category, label):
            deep = ops.cat((self.embedding(category), numbers), axis=1)
            deep = ops.relu(self.fc1(deep))
            deep = ops.relu(self.fc2(deep))
            probability = ops.sigmoid(self.wide(crossed) + self.out(deep)).squeeze(1)
            penalty = 0.01 * self.wide.weight.square().sum()
            return self.loss(probability, label.astype(ms.float32)) + penalty, probability

    return WideDeep()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class WideDeep(nn.Module):
        def __init__(self):
            super().__init__()
            self.wide = nn.Linear(6, 1, bias=False)
            self.embedding = nn.Embedding(5, 3)
            self.fc1 = nn.Linear(6, 8)
            self.fc2 = nn.Linear(8, 4)
            self.out = nn.Linear(4, 1)
            self.loss = nn.BCELoss()

        def forward(self, crossed, numbers, category, label):
            deep = torch.cat((self.embedding(category), numbers), dim=1)
            deep = F.relu(self.fc1(deep))
            deep = F.relu(self.fc2(deep))
            probability = torch.sigmoid(self.wide(crossed) + self.out(deep)).squeeze(1)
            penalty = 0.01 * self.wide.weight.pow(2).sum()
            return self.loss(probability, label.float()) + penalty, probability

    return WideDeep()


def jax_net():
    import jax
    import jax.numpy as jnp

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def net(params, crossed, numbers, category, label):
        deep = jnp.concatenate((params["embedding.weight"][category], numbers), axis=1)
        deep = jax.nn.relu(dense(params, "fc1", deep))
        deep = jax.nn.relu(dense(params, "fc2", deep))
        logit = crossed @ params["wide.weight"].T + dense(params, "out", deep)
        probability = jax.nn.sigmoid(logit).squeeze(1)
        losses = -jnp.where(label == 1, jnp.log(probability), jnp.log(1 - probability))
        penalty = 0.01 * (params["wide.weight"] ** 2).sum()
        return losses.mean() + penalty, probability

    return net
