"""Ready-made attention over a sequence with padding.

`nn.MultiheadAttention` of both frameworks (Vaswani et al., 2017), asked for cross attention: queries
from one sequence, keys and values from another, some of which are padding.

Watch the mask: True in `key_padding_mask` means *leave out*, in both frameworks, and the opposite in
most code written by hand. The layer returns the attended values and the weights, averaged over the
heads; a boolean `attn_mask` means leave out as well, a float one is added.
"""

import numpy as np

CONSTANTS = ("padding",)


def inputs():
    random = np.random.default_rng(15)
    return {
        "query": random.normal(size=(3, 2, 8)).astype(np.float32),
        "memory": random.normal(size=(4, 2, 8)).astype(np.float32),
        "padding": np.array([[False, False, False, True], [False, False, True, True]]),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2)
            self.norm = nn.LayerNorm((8,), epsilon=1e-5)

        def construct(self, query, memory, padding):
            attended, weights = self.attention(query, memory, memory, key_padding_mask=padding)
            out = self.norm(query + attended)
            return (out * out * out).mean() + weights.square().sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2)
            self.norm = nn.LayerNorm(8)

        def forward(self, query, memory, padding):
            attended, weights = self.attention(query, memory, memory, key_padding_mask=padding)
            out = self.norm(query + attended)
            return (out * out * out).mean() + weights.square().sum()

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp

    def attention(params, query, memory, padding, heads=2):
        wq, wk, wv = jnp.split(params["attention.in_proj_weight"], 3)
        bq, bk, bv = jnp.split(params["attention.in_proj_bias"], 3)

        def split_heads(x):
            t, b, c = x.shape
            return x.reshape(t, b, heads, c // heads).transpose(1, 2, 0, 3)

        q = split_heads(query @ wq.T + bq)
        k = split_heads(memory @ wk.T + bk)
        v = split_heads(memory @ wv.T + bv)
        scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
        scores = jnp.where(padding[:, None, None, :], -jnp.inf, scores)
        weights = jax.nn.softmax(scores, axis=-1)
        mixed = (weights @ v).transpose(2, 0, 1, 3).reshape(query.shape)
        out = mixed @ params["attention.out_proj.weight"].T + params["attention.out_proj.bias"]
        return out, weights.mean(1)

    def net(params, query, memory, padding):
        attended, weights = attention(params, query, memory, padding)
        y = query + attended
        centred = y - y.mean(-1, keepdims=True)
        out = centred * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
        out = out * params["norm.weight"] + params["norm.bias"]
        return (out * out * out).mean() + (weights**2).sum()

    return net
