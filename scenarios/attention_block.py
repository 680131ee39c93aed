"""A self-attention block.

Queries, keys and values from one input, softmax of the scaled scores, a residual connection, and
layer norm: the block that transformers stack. Three gradients meet in `x` (from the queries, the
keys and the values) and a fourth comes round the outside by the residual; their sum is a node of
its own. Softmax and layer norm each bring a backward operator that needs what the forward computed:
the probabilities in the one case, mean and spread in the other.

Two defaults differ without a word. MindSpore's `LayerNorm` has `epsilon=1e-7`, PyTorch's
`eps=1e-5`; it is written out here, and on a nearly constant row it decides the result. `softmax` of
MindSpore takes the last axis unless told, where PyTorch wants `dim` and warns when there is none.

The attention is written with plain products. The fused kernels give the same first gradient, but
PyTorch's flash attention has no second one on the CPU: a gradient penalty through it raises,
through these products it does not.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(0)
    return {"x": random.normal(size=(3, 4)).round(2).astype(np.float32)}


def parameters():
    random = np.random.default_rng(1)
    return {
        "query.weight": random.normal(scale=0.6, size=(4, 4)).round(2).astype(np.float32),
        "key.weight": random.normal(scale=0.6, size=(4, 4)).round(2).astype(np.float32),
        "value.weight": random.normal(scale=0.6, size=(4, 4)).round(2).astype(np.float32),
        "norm.weight": np.array([1.0, 0.8, 1.2, 0.9], np.float32),
        "norm.bias": np.array([0.1, -0.2, 0.3, 0.0], np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.query = nn.Dense(4, 4, has_bias=False)
            self.key = nn.Dense(4, 4, has_bias=False)
            self.value = nn.Dense(4, 4, has_bias=False)
            self.norm = nn.LayerNorm((4,), epsilon=1e-5)

        def construct(self, x):
            scores = ops.matmul(self.query(x), self.key(x).T) / 2.0
            mixed = ops.matmul(ops.softmax(scores, axis=-1), self.value(x))
            out = self.norm(x + mixed)
            return (out * out * out).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.query = nn.Linear(4, 4, bias=False)
            self.key = nn.Linear(4, 4, bias=False)
            self.value = nn.Linear(4, 4, bias=False)
            self.norm = nn.LayerNorm(4)

        def forward(self, x):
            scores = torch.matmul(self.query(x), self.key(x).T) / 2.0
            mixed = torch.matmul(torch.softmax(scores, dim=-1), self.value(x))
            out = self.norm(x + mixed)
            return (out * out * out).sum()

    return Net()


def jax_net():
    import jax

    def net(params, x):
        query = x @ params["query.weight"].T
        key = x @ params["key.weight"].T
        value = x @ params["value.weight"].T
        mixed = jax.nn.softmax(query @ key.T / 2.0, axis=-1) @ value
        y = x + mixed
        centred = y - y.mean(-1, keepdims=True)
        normal = centred * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
        out = normal * params["norm.weight"] + params["norm.bias"]
        return (out * out * out).sum()

    return net
