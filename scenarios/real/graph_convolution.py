"""A graph convolutional network on five nodes.

Modelled on Kipf and Welling, "Semi-supervised classification with graph convolutional networks"
(2016): the adjacency matrix gets loops and is divided by the roots of both degrees, each layer
multiplies with it, and the loss counts the labelled nodes only.

Watch the normalisation: symmetric here, by rows in other code. The loops come before the degrees are
counted. A bias is added after the product with the adjacency matrix, not before.
"""

import numpy as np

OUTPUTS = ("loss", "log_probs")
CONSTANTS = ("adjacency", "label", "labelled")


def inputs():
    random = np.random.default_rng(32)
    edges = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3))
    adjacency = np.zeros((5, 5), np.int32)
    for i, j in edges:
        adjacency[i, j] = adjacency[j, i] = 1
    return {
        "features": random.normal(size=(5, 4)).astype(np.float32),
        "adjacency": adjacency,
        "label": np.array([0, 2, 1, 0, 2], np.int32),
        "labelled": np.array([1, 1, 0, 0, 1], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import Parameter, nn, ops
    from mindspore.common.initializer import XavierUniform, initializer

    class GraphConvolution(nn.Cell):
        def __init__(self, in_features, out_features):
            super().__init__()
            self.weight = Parameter(
                initializer(XavierUniform(), (in_features, out_features), ms.float32)
            )
            self.bias = Parameter(initializer("zeros", (out_features,), ms.float32))

        def construct(self, x, adjacency):
            return ops.matmul(adjacency, ops.matmul(x, self.weight)) + self.bias

    class GCN(nn.Cell):
        def __init__(self):
            super().__init__()
            self.gc1 = GraphConvolution(4, 6)
            self.gc2 = GraphConvolution(6, 3)

        def normalized(self, adjacency):
            a = adjacency.astype(ms.float32) + ops.eye(adjacency.shape[0], dtype=ms.float32)
            scale = ops.rsqrt(a.sum(1))
            return scale.expand_dims(1) * a * scale.expand_dims(0)

        def construct(self, features, adjacency, label, labelled):
            a = self.normalized(adjacency)
            x = ops.relu(self.gc1(features, a))
            log_probs = ops.log_softmax(self.gc2(x, a), axis=1)
            each = ops.nll_loss(log_probs, label, reduction="none")
            weight = labelled.astype(ms.float32)
            return (each * weight).sum() / weight.sum(), log_probs

    return GCN()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class GraphConvolution(nn.Module):
        def __init__(self, in_features, out_features):
            super().__init__()
            self.weight = nn.Parameter(torch.empty(in_features, out_features))
            self.bias = nn.Parameter(torch.zeros(out_features))
            nn.init.xavier_uniform_(self.weight)

        def forward(self, x, adjacency):
            return adjacency @ (x @ self.weight) + self.bias

    class GCN(nn.Module):
        def __init__(self):
            super().__init__()
            self.gc1 = GraphConvolution(4, 6)
            self.gc2 = GraphConvolution(6, 3)

        def normalized(self, adjacency):
            a = adjacency.float() + torch.eye(adjacency.size(0), device=adjacency.device)
            scale = a.sum(dim=1).rsqrt()
            return scale.unsqueeze(1) * a * scale.unsqueeze(0)

        def forward(self, features, adjacency, label, labelled):
            a = self.normalized(adjacency)
            x = F.relu(self.gc1(features, a))
            log_probs = F.log_softmax(self.gc2(x, a), dim=1)
            each = F.nll_loss(log_probs, label.long(), reduction="none")
            weight = labelled.float()
            return (each * weight).sum() / weight.sum(), log_probs

    return GCN()


def jax_net():
    import jax
    import jax.numpy as jnp

    def normalized(adjacency):
        a = adjacency.astype(jnp.float32) + jnp.eye(len(adjacency), dtype=jnp.float32)
        scale = jax.lax.rsqrt(a.sum(1))
        return scale[:, None] * a * scale[None, :]

    def net(params, features, adjacency, label, labelled):
        a = normalized(adjacency)
        x = jax.nn.relu(a @ (features @ params["gc1.weight"]) + params["gc1.bias"])
        log_probs = jax.nn.log_softmax(a @ (x @ params["gc2.weight"]) + params["gc2.bias"])
        each = -jnp.take_along_axis(log_probs, label[:, None], axis=1).squeeze(1)
        return (each * labelled).sum() / labelled.sum(), log_probs

    return net
