"""A conditional random field over tags.

Modelled on Lample et al., "Neural architectures for named entity recognition" (2016): scores for each
word and tag, a matrix of transitions, and as loss the logarithm of all paths together, by the forward
algorithm, less the score of the right path.

Watch the direction of the transitions: here `transitions[i, j]` is the score of going from tag i to
tag j, other code has it the other way round, and both train. Log-sum-exp runs once a word; its
gradient are probabilities, so each word's gradient sums to zero.
"""

import numpy as np

CONSTANTS = ("tags",)


def inputs():
    random = np.random.default_rng(17)
    return {
        "features": random.normal(size=(2, 4, 5)).astype(np.float32),
        "tags": np.array([[0, 2, 1, 1], [2, 0, 0, 1]], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import Parameter, nn, ops
    from mindspore.common.initializer import Uniform, initializer

    class CRF(nn.Cell):
        def __init__(self, features=5, num_tags=3):
            super().__init__()
            self.num_tags = num_tags
            self.emission = nn.Dense(features, num_tags)
            self.start = Parameter(initializer(Uniform(0.1), (num_tags,), ms.float32))
            self.end = Parameter(initializer(Uniform(0.1), (num_tags,), ms.float32))
            self.transitions = Parameter(
                initializer(Uniform(0.1), (num_tags, num_tags), ms.float32)
            )

        def score(self, emissions, tags):
            one_hot = ops.one_hot(
                tags, self.num_tags, ms.Tensor(1.0, ms.float32), ms.Tensor(0.0, ms.float32)
            )
            score = (emissions * one_hot).sum((1, 2))
            score = score + ops.gather(self.start, tags[:, 0], 0)
            score = score + ops.gather(self.end, tags[:, -1], 0)
            for step in range(1, tags.shape[1]):
                leaving = ops.matmul(one_hot[:, step - 1], self.transitions)
                score = score + (leaving * one_hot[:, step]).sum(1)
            return score

        def partition(self, emissions):
            alpha = self.start + emissions[:, 0]
            for step in range(1, emissions.shape[1]):
                scores = alpha.expand_dims(2) + self.transitions + emissions[:, step].expand_dims(1)
                alpha = ops.logsumexp(scores, 1)
            return ops.logsumexp(alpha + self.end, 1)

        def construct(self, features, tags):
            emissions = self.emission(features)
            return (self.partition(emissions) - self.score(emissions, tags)).mean()

    return CRF()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class CRF(nn.Module):
        def __init__(self, features=5, num_tags=3):
            super().__init__()
            self.num_tags = num_tags
            self.emission = nn.Linear(features, num_tags)
            self.start = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
            self.end = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
            self.transitions = nn.Parameter(torch.empty(num_tags, num_tags).uniform_(-0.1, 0.1))

        def score(self, emissions, tags):
            one_hot = F.one_hot(tags, self.num_tags).to(emissions.dtype)
            score = (emissions * one_hot).sum((1, 2))
            score = score + self.start[tags[:, 0]]
            score = score + self.end[tags[:, -1]]
            for step in range(1, tags.size(1)):
                leaving = one_hot[:, step - 1] @ self.transitions
                score = score + (leaving * one_hot[:, step]).sum(1)
            return score

        def partition(self, emissions):
            alpha = self.start + emissions[:, 0]
            for step in range(1, emissions.size(1)):
                scores = alpha.unsqueeze(2) + self.transitions + emissions[:, step].unsqueeze(1)
                alpha = torch.logsumexp(scores, dim=1)
            return torch.logsumexp(alpha + self.end, dim=1)

        def forward(self, features, tags):
            emissions = self.emission(features)
            return (self.partition(emissions) - self.score(emissions, tags.long())).mean()

    return CRF()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp

    def score(params, emissions, tags):
        one_hot = jax.nn.one_hot(tags, emissions.shape[-1], dtype=emissions.dtype)
        score = (emissions * one_hot).sum((1, 2))
        score = score + params["start"][tags[:, 0]] + params["end"][tags[:, -1]]
        leaving = one_hot[:, :-1] @ params["transitions"]
        return score + (leaving * one_hot[:, 1:]).sum((1, 2))

    def partition(params, emissions):
        def step(alpha, emission):
            scores = alpha[:, :, None] + params["transitions"] + emission[:, None]
            return logsumexp(scores, axis=1), None

        alpha = params["start"] + emissions[:, 0]
        alpha, _ = jax.lax.scan(step, alpha, jnp.swapaxes(emissions[:, 1:], 0, 1))
        return logsumexp(alpha + params["end"], axis=1)

    def net(params, features, tags):
        emissions = features @ params["emission.weight"].T + params["emission.bias"]
        return (partition(params, emissions) - score(params, emissions, tags)).mean()

    return net
