"""A vision transformer of one block.

Modelled on ViT (Dosovitskiy et al., "An image is worth 16×16 words", 2020): a convolution with the
patch as stride cuts the image into tokens, a class token stands before them, positions are learned,
and the block normalises before attention and before the MLP.

Watch the layer norms and the GELU. MindSpore's `nn.LayerNorm` has `epsilon=1e-7` unless told, the
published ViT 1e-6, PyTorch's default is 1e-5. `nn.GELU` is the tanh approximation in MindSpore
unless told `approximate=False`, its `ops.gelu` and PyTorch's `nn.GELU` are exact. Queries, keys and
values come from one product, so what is taken apart is a matter of layout: (3, heads, size).
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)


def inputs():
    random = np.random.default_rng(0)
    return {
        "image": random.normal(size=(2, 3, 4, 4)).astype(np.float32),
        "label": np.array([2, 0], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import Parameter, nn, ops
    from mindspore.common.initializer import Normal, initializer

    class Attention(nn.Cell):
        def __init__(self, dim, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.head_dim = dim // num_heads
            self.scale = self.head_dim**-0.5
            self.qkv = nn.Dense(dim, dim * 3)
            self.proj = nn.Dense(dim, dim)

        def construct(self, x):
            b, n, c = x.shape
            qkv = self.qkv(x).reshape(b, n, 3, self.num_heads, self.head_dim)
            qkv = qkv.transpose(2, 0, 3, 1, 4)
            q, k, v = ops.unstack(qkv, axis=0)
            attn = ops.softmax(ops.matmul(q, k.swapaxes(-2, -1)) * self.scale, axis=-1)
            x = ops.matmul(attn, v).swapaxes(1, 2).reshape(b, n, c)
            return self.proj(x)

    class Mlp(nn.Cell):
        def __init__(self, dim, hidden):
            super().__init__()
            self.fc1 = nn.Dense(dim, hidden)
            self.act = nn.GELU(approximate=False)
            self.fc2 = nn.Dense(hidden, dim)

        def construct(self, x):
            return self.fc2(self.act(self.fc1(x)))

    class Block(nn.Cell):
        def __init__(self, dim, num_heads):
            super().__init__()
            self.norm1 = nn.LayerNorm((dim,), epsilon=1e-6)
            self.attn = Attention(dim, num_heads)
            self.norm2 = nn.LayerNorm((dim,), epsilon=1e-6)
            self.mlp = Mlp(dim, dim * 2)

        def construct(self, x):
            x = x + self.attn(self.norm1(x))
            x = x + self.mlp(self.norm2(x))
            return x

    class VisionTransformer(nn.Cell):
        def __init__(self, dim=8, patch=2, tokens=4, num_classes=3):
            super().__init__()
            self.patch_embed = nn.Conv2d(
                3, dim, patch, stride=patch, pad_mode="valid", has_bias=True
            )
            self.cls_token = Parameter(initializer(Normal(0.02), (1, 1, dim), ms.float32))
            self.pos_embed = Parameter(initializer(Normal(0.02), (1, tokens + 1, dim), ms.float32))
            self.block = Block(dim, num_heads=2)
            self.norm = nn.LayerNorm((dim,), epsilon=1e-6)
            self.head = nn.Dense(dim, num_classes)

        def construct(self, image, label):
            x = self.patch_embed(image)
            b, c, _, _ = x.shape
            x = x.reshape(b, c, -1).transpose(0, 2, 1)
            cls_token = ops.broadcast_to(self.cls_token, (b, 1, c))
            x = ops.cat((cls_token, x), axis=1) + self.pos_embed
            x = self.norm(self.block(x))
            logits = self.head(x[:, 0])
            return ops.cross_entropy(logits, label), logits

    return VisionTransformer()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Attention(nn.Module):
        def __init__(self, dim, num_heads):
            super().__init__()
            self.num_heads = num_heads
            self.head_dim = dim // num_heads
            self.scale = self.head_dim**-0.5
            self.qkv = nn.Linear(dim, dim * 3)
            self.proj = nn.Linear(dim, dim)

        def forward(self, x):
            b, n, c = x.shape
            qkv = self.qkv(x).reshape(b, n, 3, self.num_heads, self.head_dim)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            attn = (q @ k.transpose(-2, -1)) * self.scale
            attn = attn.softmax(dim=-1)
            x = (attn @ v).transpose(1, 2).reshape(b, n, c)
            return self.proj(x)

    class Mlp(nn.Module):
        def __init__(self, dim, hidden):
            super().__init__()
            self.fc1 = nn.Linear(dim, hidden)
            self.act = nn.GELU()
            self.fc2 = nn.Linear(hidden, dim)

        def forward(self, x):
            return self.fc2(self.act(self.fc1(x)))

    class Block(nn.Module):
        def __init__(self, dim, num_heads):
            super().__init__()
            self.norm1 = nn.LayerNorm(dim, eps=1e-6)
            self.attn = Attention(dim, num_heads)
            self.norm2 = nn.LayerNorm(dim, eps=1e-6)
            self.mlp = Mlp(dim, dim * 2)

        def forward(self, x):
            x = x + self.attn(self.norm1(x))
            x = x + self.mlp(self.norm2(x))
            return x

    class VisionTransformer(nn.Module):
        def __init__(self, dim=8, patch=2, tokens=4, num_classes=3):
            super().__init__()
            self.patch_embed = nn.Conv2d(3, dim, patch, stride=patch)
            self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
            self.pos_embed = nn.Parameter(torch.randn(1, tokens + 1, dim) * 0.02)
            self.block = Block(dim, num_heads=2)
            self.norm = nn.LayerNorm(dim, eps=1e-6)
            self.head = nn.Linear(dim, num_classes)

        def forward(self, image, label):
            x = self.patch_embed(image).flatten(2).transpose(1, 2)
            cls_token = self.cls_token.expand(x.shape[0], -1, -1)
            x = torch.cat((cls_token, x), dim=1) + self.pos_embed
            x = self.norm(self.block(x))
            logits = self.head(x[:, 0])
            return F.cross_entropy(logits, label.long()), logits

    return VisionTransformer()


def jax_net():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def norm(params, name, x):
        centred = x - x.mean(-1, keepdims=True)
        normal = centred * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6)
        return normal * params[f"{name}.weight"] + params[f"{name}.bias"]

    def attention(params, x, num_heads=2):
        b, n, c = x.shape
        qkv = dense(params, "block.attn.qkv", x).reshape(b, n, 3, num_heads, c // num_heads)
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        attn = jax.nn.softmax((q @ k.swapaxes(-2, -1)) * (c // num_heads) ** -0.5, axis=-1)
        x = (attn @ v).swapaxes(1, 2).reshape(b, n, c)
        return dense(params, "block.attn.proj", x)

    def mlp(params, x):
        hidden = jax.nn.gelu(dense(params, "block.mlp.fc1", x), approximate=False)
        return dense(params, "block.mlp.fc2", hidden)

    def net(params, image, label):
        x = lax.conv_general_dilated(image, params["patch_embed.weight"], (2, 2), "VALID")
        x = x + params["patch_embed.bias"][:, None, None]
        b, c, *_ = x.shape
        x = x.reshape(b, c, -1).swapaxes(1, 2)
        cls_token = jnp.broadcast_to(params["cls_token"], (b, 1, c))
        x = jnp.concatenate((cls_token, x), axis=1) + params["pos_embed"]
        x = x + attention(params, norm(params, "block.norm1", x))
        x = x + mlp(params, norm(params, "block.norm2", x))
        logits = dense(params, "head", norm(params, "norm", x)[:, 0])
        scores = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(scores, label[:, None], axis=1).mean(), logits

    return net
