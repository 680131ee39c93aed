"""A factorisation machine beside a deep net.

Modelled on DeepFM (Guo et al., 2017): every field of a click has an embedding and a weight of its
own, the machine sums all products of pairs by the trick of squares, and a small net works on the
same embeddings.

Watch the trick: half of (square of the sum less sum of the squares). The order of the two is easily
swapped, as in "sum of the squares" twice, which is zero. Both parts share one embedding, whose
gradient is the sum of both. Embeddings of fields stand in one table behind offsets.
"""

import numpy as np

OUTPUTS = ("loss", "logit")
CONSTANTS = ("fields", "click")


def inputs():
    return {
        "fields": np.array([[0, 2, 1], [1, 0, 3], [2, 1, 0]], np.int32),
        "click": np.array([1, 0, 1], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import Parameter, nn, ops

    class DeepFM(nn.Cell):
        def __init__(self, sizes=(3, 3, 4), dim=4):
            super().__init__()
            self.offsets = ms.Tensor(np.cumsum((0, *sizes[:-1])), ms.int32)
            self.embedding = nn.Embedding(sum(sizes), dim)
            self.linear = nn.Embedding(sum(sizes), 1)
            self.bias = Parameter(ops.zeros((1,), ms.float32))
            self.mlp = nn.SequentialCell(nn.Dense(len(sizes) * dim, 6), nn.ReLU(), nn.Dense(6, 1))

        def construct(self, fields, click):
            fields = fields + self.offsets
            embedded = self.embedding(fields)
            square_of_sum = embedded.sum(1).square()
            sum_of_squares = embedded.square().sum(1)
            pairs = 0.5 * (square_of_sum - sum_of_squares).sum(1)
            deep = self.mlp(embedded.reshape(fields.shape[0], -1)).squeeze(1)
            logit = self.linear(fields).sum((1, 2)) + self.bias + pairs + deep
            weight = ops.ones_like(logit)
            target = click.astype(ms.float32)
            return ops.binary_cross_entropy_with_logits(logit, target, weight, weight), logit

    return DeepFM()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class DeepFM(nn.Module):
        def __init__(self, sizes=(3, 3, 4), dim=4):
            super().__init__()
            offsets = torch.tensor((0, *sizes[:-1])).cumsum(0)
            self.register_buffer("offsets", offsets, persistent=False)
            self.embedding = nn.Embedding(sum(sizes), dim)
            self.linear = nn.Embedding(sum(sizes), 1)
            self.bias = nn.Parameter(torch.zeros(1))
            self.mlp = nn.Sequential(nn.Linear(len(sizes) * dim, 6), nn.ReLU(), nn.Linear(6, 1))

        def forward(self, fields, click):
            fields = fields + self.offsets
            embedded = self.embedding(fields)
            square_of_sum = embedded.sum(dim=1).pow(2)
            sum_of_squares = embedded.pow(2).sum(dim=1)
            pairs = 0.5 * (square_of_sum - sum_of_squares).sum(dim=1)
            deep = self.mlp(embedded.flatten(1)).squeeze(1)
            logit = self.linear(fields).sum((1, 2)) + self.bias + pairs + deep
            return F.binary_cross_entropy_with_logits(logit, click.float()), logit

    return DeepFM()


def jax_net():
    import jax
    import jax.numpy as jnp

    def mlp(params, x):
        hidden = jax.nn.relu(x @ params["mlp.0.weight"].T + params["mlp.0.bias"])
        return hidden @ params["mlp.2.weight"].T + params["mlp.2.bias"]

    def net(params, fields, click):
        fields = fields + np.array([0, 3, 6], np.int32)  # the first row of each field
        embedded = params["embedding.weight"][fields]
        square_of_sum = embedded.sum(1) ** 2
        sum_of_squares = (embedded**2).sum(1)
        pairs = 0.5 * (square_of_sum - sum_of_squares).sum(1)
        deep = mlp(params, embedded.reshape(len(fields), -1)).squeeze(1)
        logit = params["linear.weight"][fields].sum((1, 2)) + params["bias"] + pairs + deep
        losses = jnp.where(click == 1, jax.nn.log_sigmoid(logit), jax.nn.log_sigmoid(-logit))
        return -losses.mean(), logit

    return net
