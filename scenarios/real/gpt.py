"""A GPT of one block whose head is tied to its embedding.

Modelled on GPT-2 (Radford et al., "Language models are unsupervised multitask learners", 2019) in
the style of its small reimplementations: learned positions, norm first, one product for queries,
keys and values, the tanh approximation of GELU, and logits from the token embedding itself.

Watch the weight that is used twice: its gradient is the sum of what the embedding and the head pass
back, and a port that copies the values without tying the weights trains two. The head predicts the
*next* token, so logits and targets are shifted by one. `nn.GELU` of MindSpore approximates by
default, which is what GPT-2 wants; PyTorch must be told.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("tokens",)


def inputs():
    return {"tokens": np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]], np.int32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class CausalSelfAttention(nn.Cell):
        def __init__(self, n_embd, n_head, block_size):
            super().__init__()
            self.n_head = n_head
            self.scale = (n_embd // n_head) ** -0.5
            self.c_attn = nn.Dense(n_embd, 3 * n_embd)
            self.c_proj = nn.Dense(n_embd, n_embd)
            self.future = ms.Tensor(np.triu(np.ones((block_size, block_size), bool), 1))

        def construct(self, x):
            b, t, c = x.shape
            q, k, v = ops.split(self.c_attn(x), c, axis=2)
            q = q.view(b, t, self.n_head, c // self.n_head).swapaxes(1, 2)
            k = k.view(b, t, self.n_head, c // self.n_head).swapaxes(1, 2)
            v = v.view(b, t, self.n_head, c // self.n_head).swapaxes(1, 2)
            att = ops.matmul(q, k.swapaxes(-2, -1)) * self.scale
            att = att.masked_fill(self.future[:t, :t], -1e9)
            att = ops.softmax(att, axis=-1)
            y = ops.matmul(att, v).swapaxes(1, 2).reshape(b, t, c)
            return self.c_proj(y)

    class MLP(nn.Cell):
        def __init__(self, n_embd):
            super().__init__()
            self.c_fc = nn.Dense(n_embd, 4 * n_embd)
            self.gelu = nn.GELU()
            self.c_proj = nn.Dense(4 * n_embd, n_embd)

        def construct(self, x):
            return self.c_proj(self.gelu(self.c_fc(x)))

    class Block(nn.Cell):
        def __init__(self, n_embd, n_head, block_size):
            super().__init__()
            self.ln_1 = nn.LayerNorm((n_embd,), epsilon=1e-5)
            self.attn = CausalSelfAttention(n_embd, n_head, block_size)
            self.ln_2 = nn.LayerNorm((n_embd,), epsilon=1e-5)
            self.mlp = MLP(n_embd)

        def construct(self, x):
            x = x + self.attn(self.ln_1(x))
            x = x + self.mlp(self.ln_2(x))
            return x

    class GPT(nn.Cell):
        def __init__(self, vocab=12, block_size=6, n_embd=8, n_head=2):
            super().__init__()
            self.wte = nn.Embedding(vocab, n_embd)
            self.wpe = nn.Embedding(block_size, n_embd)
            self.h = Block(n_embd, n_head, block_size)
            self.ln_f = nn.LayerNorm((n_embd,), epsilon=1e-5)

        def construct(self, tokens):
            t = tokens.shape[1]
            x = self.wte(tokens) + self.wpe(ops.arange(t))
            x = self.ln_f(self.h(x))
            logits = ops.matmul(x, self.wte.embedding_table.T)
            v = logits.shape[-1]
            loss = ops.cross_entropy(logits[:, :-1].reshape(-1, v), tokens[:, 1:].reshape(-1))
            return loss, logits

    return GPT()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class CausalSelfAttention(nn.Module):
        def __init__(self, n_embd, n_head, block_size):
            super().__init__()
            self.n_head = n_head
            self.c_attn = nn.Linear(n_embd, 3 * n_embd)
            self.c_proj = nn.Linear(n_embd, n_embd)
            future = torch.triu(torch.ones(block_size, block_size, dtype=torch.bool), diagonal=1)
            self.register_buffer("future", future, persistent=False)

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = self.c_attn(x).split(c, dim=2)
            q = q.view(b, t, self.n_head, c // self.n_head).transpose(1, 2)
            k = k.view(b, t, self.n_head, c // self.n_head).transpose(1, 2)
            v = v.view(b, t, self.n_head, c // self.n_head).transpose(1, 2)
            att = (q @ k.transpose(-2, -1)) * k.size(-1) ** -0.5
            att = att.masked_fill(self.future[:t, :t], float("-inf"))
            att = F.softmax(att, dim=-1)
            y = (att @ v).transpose(1, 2).contiguous().view(b, t, c)
            return self.c_proj(y)

    class MLP(nn.Module):
        def __init__(self, n_embd):
            super().__init__()
            self.c_fc = nn.Linear(n_embd, 4 * n_embd)
            self.gelu = nn.GELU(approximate="tanh")
            self.c_proj = nn.Linear(4 * n_embd, n_embd)

        def forward(self, x):
            return self.c_proj(self.gelu(self.c_fc(x)))

    class Block(nn.Module):
        def __init__(self, n_embd, n_head, block_size):
            super().__init__()
            self.ln_1 = nn.LayerNorm(n_embd)
            self.attn = CausalSelfAttention(n_embd, n_head, block_size)
            self.ln_2 = nn.LayerNorm(n_embd)
            self.mlp = MLP(n_embd)

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            x = x + self.mlp(self.ln_2(x))
            return x

    class GPT(nn.Module):
        def __init__(self, vocab=12, block_size=6, n_embd=8, n_head=2):
            super().__init__()
            self.wte = nn.Embedding(vocab, n_embd)
            self.wpe = nn.Embedding(block_size, n_embd)
            self.h = Block(n_embd, n_head, block_size)
            self.ln_f = nn.LayerNorm(n_embd)
            self.lm_head = nn.Linear(n_embd, vocab, bias=False)
            self.lm_head.weight = self.wte.weight

        def forward(self, tokens):
            position = torch.arange(tokens.size(1), device=tokens.device)
            x = self.wte(tokens) + self.wpe(position)
            x = self.ln_f(self.h(x))
            logits = self.lm_head(x)
            shifted = logits[:, :-1].reshape(-1, logits.size(-1))
            loss = F.cross_entropy(shifted, tokens[:, 1:].reshape(-1).long())
            return loss, logits

    return GPT()


def jax_net():
    import jax
    import jax.numpy as jnp

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def norm(params, name, x):
        centred = x - x.mean(-1, keepdims=True)
        normal = centred * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        return normal * params[f"{name}.weight"] + params[f"{name}.bias"]

    def attention(params, x, n_head=2):
        b, t, c = x.shape

        def split_heads(x):
            return x.reshape(b, t, n_head, c // n_head).swapaxes(1, 2)

        q, k, v = map(split_heads, jnp.split(dense(params, "h.attn.c_attn", x), 3, axis=2))
        att = (q @ k.swapaxes(-2, -1)) * (c // n_head) ** -0.5
        past = jnp.tril(jnp.ones((t, t), bool))
        att = jax.nn.softmax(jnp.where(past, att, -jnp.inf), axis=-1)
        y = (att @ v).swapaxes(1, 2).reshape(b, t, c)
        return dense(params, "h.attn.c_proj", y)

    def mlp(params, x):
        hidden = jax.nn.gelu(dense(params, "h.mlp.c_fc", x), approximate=True)
        return dense(params, "h.mlp.c_proj", hidden)

    def gpt(params, tokens):
        x = params["wte.weight"][tokens] + params["wpe.weight"][: tokens.shape[1]]
        x = x + attention(params, norm(params, "h.ln_1", x))
        x = x + mlp(params, norm(params, "h.ln_2", x))
        logits = norm(params, "ln_f", x) @ params["wte.weight"].T
        scores = jax.nn.log_softmax(logits[:, :-1])
        return -jnp.take_along_axis(scores, tokens[:, 1:, None], axis=-1).mean(), logits

    return gpt
