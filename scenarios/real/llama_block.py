"""A LLaMA block: RMS norm, rotary positions, SwiGLU, shared keys.

Modelled on LLaMA 2 (Touvron et al., 2023) with RMS norm (Zhang and Sennrich, 2019), rotary position
embedding (Su et al., "RoFormer", 2021, in the half-rotated form of the published weights) and a
gated MLP with SiLU (Shazeer, "GLU variants improve transformer", 2020). Two query heads share one
head of keys and values.

Watch the rotation. Published code turns the two *halves* of a head against each other, the paper
turns neighbours: same name, other numbers, and a checkpoint fits only one of them. RMS norm has its
epsilon inside the root, 1e-6 or 1e-5 by model. No layer has a bias.
"""

import numpy as np


def inputs():
    random = np.random.default_rng(0)
    return {"x": random.normal(size=(2, 4, 8)).astype(np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import Parameter, nn, ops

    def rotate_half(x):
        half = x.shape[-1] // 2
        x1, x2 = x[..., :half], x[..., half:]
        return ops.cat((-x2, x1), axis=-1)

    class RMSNorm(nn.Cell):
        def __init__(self, dim, eps=1e-6):
            super().__init__()
            self.weight = Parameter(ops.ones((dim,), ms.float32))
            self.eps = eps

        def construct(self, x):
            variance = x.square().mean(-1, keep_dims=True)
            return self.weight * (x * ops.rsqrt(variance + self.eps))

    class Attention(nn.Cell):
        def __init__(self, dim, n_heads, n_kv_heads, max_len, theta=10000.0):
            super().__init__()
            self.n_heads = n_heads
            self.n_kv_heads = n_kv_heads
            self.head_dim = dim // n_heads
            self.q_proj = nn.Dense(dim, n_heads * self.head_dim, has_bias=False)
            self.k_proj = nn.Dense(dim, n_kv_heads * self.head_dim, has_bias=False)
            self.v_proj = nn.Dense(dim, n_kv_heads * self.head_dim, has_bias=False)
            self.o_proj = nn.Dense(dim, dim, has_bias=False)
            freqs = 1.0 / theta ** (np.arange(0, self.head_dim, 2) / self.head_dim)
            angles = np.outer(np.arange(max_len), freqs)
            angles = np.concatenate((angles, angles), axis=-1)
            self.cos = ms.Tensor(np.cos(angles), ms.float32)
            self.sin = ms.Tensor(np.sin(angles), ms.float32)
            self.mask = ms.Tensor(np.triu(np.full((max_len, max_len), -1e9), 1), ms.float32)

        def construct(self, x):
            b, t, c = x.shape
            q = self.q_proj(x).reshape(b, t, self.n_heads, self.head_dim).swapaxes(1, 2)
            k = self.k_proj(x).reshape(b, t, self.n_kv_heads, self.head_dim).swapaxes(1, 2)
            v = self.v_proj(x).reshape(b, t, self.n_kv_heads, self.head_dim).swapaxes(1, 2)
            q = q * self.cos[:t] + rotate_half(q) * self.sin[:t]
            k = k * self.cos[:t] + rotate_half(k) * self.sin[:t]
            k = ops.repeat_interleave(k, self.n_heads // self.n_kv_heads, 1)
            v = ops.repeat_interleave(v, self.n_heads // self.n_kv_heads, 1)
            scores = ops.matmul(q, k.swapaxes(-2, -1)) / self.head_dim**0.5
            probs = ops.softmax(scores + self.mask[:t, :t], axis=-1)
            out = ops.matmul(probs, v).swapaxes(1, 2).reshape(b, t, c)
            return self.o_proj(out)

    class MLP(nn.Cell):
        def __init__(self, dim, hidden):
            super().__init__()
            self.gate_proj = nn.Dense(dim, hidden, has_bias=False)
            self.up_proj = nn.Dense(dim, hidden, has_bias=False)
            self.down_proj = nn.Dense(hidden, dim, has_bias=False)

        def construct(self, x):
            return self.down_proj(ops.silu(self.gate_proj(x)) * self.up_proj(x))

    class Block(nn.Cell):
        def __init__(self, dim=8):
            super().__init__()
            self.input_layernorm = RMSNorm(dim)
            self.self_attn = Attention(dim, n_heads=2, n_kv_heads=1, max_len=6)
            self.post_attention_layernorm = RMSNorm(dim)
            self.mlp = MLP(dim, 12)

        def construct(self, x):
            h = x + self.self_attn(self.input_layernorm(x))
            out = h + self.mlp(self.post_attention_layernorm(h))
            return out.square().mean()

    return Block()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    def rotate_half(x):
        x1, x2 = x.chunk(2, dim=-1)
        return torch.cat((-x2, x1), dim=-1)

    class RMSNorm(nn.Module):
        def __init__(self, dim, eps=1e-6):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(dim))
            self.eps = eps

        def forward(self, x):
            variance = x.pow(2).mean(-1, keepdim=True)
            return self.weight * (x * torch.rsqrt(variance + self.eps))

    class Attention(nn.Module):
        def __init__(self, dim, n_heads, n_kv_heads, max_len, theta=10000.0):
            super().__init__()
            self.n_heads = n_heads
            self.n_kv_heads = n_kv_heads
            self.head_dim = dim // n_heads
            self.q_proj = nn.Linear(dim, n_heads * self.head_dim, bias=False)
            self.k_proj = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
            self.v_proj = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
            self.o_proj = nn.Linear(dim, dim, bias=False)
            freqs = 1.0 / theta ** (torch.arange(0, self.head_dim, 2).double() / self.head_dim)
            angles = torch.outer(torch.arange(max_len).double(), freqs)
            angles = torch.cat((angles, angles), dim=-1)
            mask = torch.full((max_len, max_len), float("-inf")).triu(1)
            self.register_buffer("cos", angles.cos().float(), persistent=False)
            self.register_buffer("sin", angles.sin().float(), persistent=False)
            self.register_buffer("mask", mask, persistent=False)

        def forward(self, x):
            b, t, c = x.shape
            q = self.q_proj(x).view(b, t, self.n_heads, self.head_dim).transpose(1, 2)
            k = self.k_proj(x).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2)
            v = self.v_proj(x).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2)
            q = q * self.cos[:t] + rotate_half(q) * self.sin[:t]
            k = k * self.cos[:t] + rotate_half(k) * self.sin[:t]
            k = k.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)
            v = v.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)
            scores = q @ k.transpose(-2, -1) / self.head_dim**0.5
            probs = F.softmax(scores + self.mask[:t, :t], dim=-1)
            out = (probs @ v).transpose(1, 2).reshape(b, t, c)
            return self.o_proj(out)

    class MLP(nn.Module):
        def __init__(self, dim, hidden):
            super().__init__()
            self.gate_proj = nn.Linear(dim, hidden, bias=False)
            self.up_proj = nn.Linear(dim, hidden, bias=False)
            self.down_proj = nn.Linear(hidden, dim, bias=False)

        def forward(self, x):
            return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))

    class Block(nn.Module):
        def __init__(self, dim=8):
            super().__init__()
            self.input_layernorm = RMSNorm(dim)
            self.self_attn = Attention(dim, n_heads=2, n_kv_heads=1, max_len=6)
            self.post_attention_layernorm = RMSNorm(dim)
            self.mlp = MLP(dim, 12)

        def forward(self, x):
            h = x + self.self_attn(self.input_layernorm(x))
            out = h + self.mlp(self.post_attention_layernorm(h))
            return out.square().mean()

    return Block()


def jax_net():
    import jax
    import jax.numpy as jnp

    def rotate_half(x):
        x1, x2 = jnp.split(x, 2, axis=-1)
        return jnp.concatenate((-x2, x1), axis=-1)

    def rms_norm(params, name, x):
        variance = (x**2).mean(-1, keepdims=True)
        return params[f"{name}.weight"] * (x * jax.lax.rsqrt(variance + 1e-6))

    def attention(params, x, n_heads=2, n_kv_heads=1, theta=10000.0):
        b, t, c = x.shape
        head_dim = c // n_heads

        def project(name, heads):
            projected = x @ params[f"self_attn.{name}.weight"].T
            return projected.reshape(b, t, heads, head_dim).swapaxes(1, 2)

        freqs = 1.0 / theta ** (np.arange(0, head_dim, 2) / head_dim)
        angles = np.tile(np.outer(np.arange(t), freqs), 2)
        cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        q = project("q_proj", n_heads)
        k, v = project("k_proj", n_kv_heads), project("v_proj", n_kv_heads)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        k = jnp.repeat(k, n_heads // n_kv_heads, axis=1)
        v = jnp.repeat(v, n_heads // n_kv_heads, axis=1)
        scores = q @ k.swapaxes(-2, -1) / head_dim**0.5
        past = jnp.tril(jnp.ones((t, t), bool))
        probs = jax.nn.softmax(jnp.where(past, scores, -jnp.inf), axis=-1)
        out = (probs @ v).swapaxes(1, 2).reshape(b, t, c)
        return out @ params["self_attn.o_proj.weight"].T

    def mlp(params, x):
        gate = jax.nn.silu(x @ params["mlp.gate_proj.weight"].T)
        return (gate * (x @ params["mlp.up_proj.weight"].T)) @ params["mlp.down_proj.weight"].T

    def block(params, x):
        h = x + attention(params, rms_norm(params, "input_layernorm", x))
        out = h + mlp(params, rms_norm(params, "post_attention_layernorm", h))
        return (out**2).mean()

    return block
