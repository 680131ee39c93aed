"""The ready-made transformer encoder layer.

`nn.TransformerEncoderLayer` is in both frameworks (Vaswani et al., "Attention is all you need", 2017)
with the same arguments, and the same parameters down to the packed `in_proj_weight`. Only the two
dense layers are `dense1` and `dense2` in MindSpore, `linear1` and `linear2` in PyTorch.

Watch the defaults: `batch_first` is False in both, `norm_first` too, so the norm follows the residual
sum, and dropout is 0.1 in training. PyTorch takes a fast path in inference when no gradient is
wanted, which the explorer never sees, for it always wants one.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(14)
    return {"x": random.normal(size=(2, 4, 8)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn

    class Encoder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(
                d_model=8, nhead=2, dim_feedforward=12, dropout=0.0, batch_first=True
            )
            self.fc = nn.Dense(8, 1)

        def construct(self, x):
            return self.fc(self.layer(x).mean(1)).sum()

    return Encoder()


def torch_net():
    from torch import nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(
                d_model=8, nhead=2, dim_feedforward=12, dropout=0.0, batch_first=True
            )
            self.fc = nn.Linear(8, 1)

        def forward(self, x):
            return self.fc(self.layer(x).mean(1)).sum()

    return Encoder()


def jax_net():
    import jax
    import jax.numpy as jnp

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def norm(params, name, x):
        centred = x - x.mean(-1, keepdims=True)
        normal = centred * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        return normal * params[f"{name}.weight"] + params[f"{name}.bias"]

    def attention(params, x, heads=2):
        b, t, c = x.shape

        def split_heads(x):
            return x.reshape(b, t, heads, c // heads).swapaxes(1, 2)

        qkv = x @ params["layer.self_attn.in_proj_weight"].T
        qkv = qkv + params["layer.self_attn.in_proj_bias"]
        q, k, v = map(split_heads, jnp.split(qkv, 3, axis=-1))
        weights = jax.nn.softmax(q @ k.swapaxes(-2, -1) / (c // heads) ** 0.5, axis=-1)
        mixed = (weights @ v).swapaxes(1, 2).reshape(b, t, c)
        return dense(params, "layer.self_attn.out_proj", mixed)

    def net(params, x):
        x = norm(params, "layer.norm1", x + attention(params, x))
        hidden = jax.nn.relu(dense(params, "layer.linear1", x))
        x = norm(params, "layer.norm2", x + dense(params, "layer.linear2", hidden))
        return dense(params, "fc", x.mean(1)).sum()

    return net
