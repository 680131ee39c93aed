"""A BERT encoder of one layer with a masked language model.

Modelled on BERT (Devlin et al., 2018) in the style of its published PyTorch code: three embeddings
are added and normalised, padding is masked by a large negative number, each part of the layer is
followed by its residual sum and a layer norm, and the head has a layer and a norm of its own.

Watch the epsilon of 1e-12, which is below what float32 can add to a variance of one, the order of
residual sum and norm, and the labels of −100 which the loss leaves out of its mean. The padded
positions still get gradients, from the residual connections.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("tokens", "segments", "attention_mask", "labels")

EXPECTED_DIFFERENCES = [
    {
        "engines": ("torch", "jax"),
        "reason": "PyTorch and JAX give the row of padding_idx no gradient, MindSpore's Embedding does",
        "when": {"weights": "all", "has_aux": False},
    }
]


def inputs():
    return {
        "tokens": np.array([[1, 5, 3, 7], [1, 4, 2, 0]], np.int32),
        "segments": np.array([[0, 0, 1, 1], [0, 0, 1, 0]], np.int32),
        "attention_mask": np.array([[1, 1, 1, 1], [1, 1, 1, 0]], np.int32),
        "labels": np.array([[-100, 6, -100, 7], [-100, -100, 3, -100]], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import Parameter, nn, ops

    class Embeddings(nn.Cell):
        def __init__(self, vocab, dim):
            super().__init__()
            self.word_embeddings = nn.Embedding(vocab, dim, padding_idx=0)
            self.position_embeddings = nn.Embedding(6, dim)
            self.token_type_embeddings = nn.Embedding(2, dim)
            self.norm = nn.LayerNorm((dim,), epsilon=1e-12)

        def construct(self, tokens, segments):
            position = ops.arange(tokens.shape[1])
            x = self.word_embeddings(tokens) + self.token_type_embeddings(segments)
            x = x + self.position_embeddings(position)
            return self.norm(x)

    class SelfAttention(nn.Cell):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads = heads
            self.head_size = dim // heads
            self.query = nn.Dense(dim, dim)
            self.key = nn.Dense(dim, dim)
            self.value = nn.Dense(dim, dim)

        def split_heads(self, x):
            b, t, _ = x.shape
            return x.reshape(b, t, self.heads, self.head_size).transpose(0, 2, 1, 3)

        def construct(self, x, mask):
            q = self.split_heads(self.query(x))
            k = self.split_heads(self.key(x))
            v = self.split_heads(self.value(x))
            scores = ops.matmul(q, k.transpose(0, 1, 3, 2))
            scores = scores / ms.numpy.sqrt(ms.Tensor(self.head_size, ms.float32))
            probs = ops.softmax(scores + mask, axis=-1)
            context = ops.matmul(probs, v).transpose(0, 2, 1, 3)
            return context.reshape(x.shape)

    class Layer(nn.Cell):
        def __init__(self, dim, heads):
            super().__init__()
            self.attention = SelfAttention(dim, heads)
            self.attention_output = nn.Dense(dim, dim)
            self.attention_norm = nn.LayerNorm((dim,), epsilon=1e-12)
            self.intermediate = nn.Dense(dim, 2 * dim)
            self.output = nn.Dense(2 * dim, dim)
            self.output_norm = nn.LayerNorm((dim,), epsilon=1e-12)

        def construct(self, x, mask):
            attended = self.attention_output(self.attention(x, mask))
            x = self.attention_norm(attended + x)
            hidden = ops.gelu(self.intermediate(x), approximate="none")
            return self.output_norm(self.output(hidden) + x)

    class Bert(nn.Cell):
        def __init__(self, vocab=9, dim=8, heads=2):
            super().__init__()
            self.embeddings = Embeddings(vocab, dim)
            self.layer = Layer(dim, heads)
            self.transform = nn.Dense(dim, dim)
            self.transform_norm = nn.LayerNorm((dim,), epsilon=1e-12)
            self.decoder = nn.Dense(dim, vocab, has_bias=False)
            self.bias = Parameter(ops.zeros((vocab,), ms.float32))

        def construct(self, tokens, segments, attention_mask, labels):
            mask = attention_mask.astype(ms.float32)[:, None, None, :]
            mask = (1.0 - mask) * -10000.0
            x = self.layer(self.embeddings(tokens, segments), mask)
            x = self.transform_norm(ops.gelu(self.transform(x), approximate="none"))
            logits = self.decoder(x) + self.bias
            loss = ops.cross_entropy(
                logits.view(-1, logits.shape[-1]), labels.view(-1), ignore_index=-100
            )
            return loss, logits

    return Bert()


def torch_net():
    import math

    import torch
    from torch import nn
    from torch.nn import functional as F

    class Embeddings(nn.Module):
        def __init__(self, vocab, dim):
            super().__init__()
            self.word_embeddings = nn.Embedding(vocab, dim, padding_idx=0)
            self.position_embeddings = nn.Embedding(6, dim)
            self.token_type_embeddings = nn.Embedding(2, dim)
            self.norm = nn.LayerNorm(dim, eps=1e-12)

        def forward(self, tokens, segments):
            position = torch.arange(tokens.size(1), device=tokens.device)
            x = self.word_embeddings(tokens) + self.token_type_embeddings(segments)
            x = x + self.position_embeddings(position)
            return self.norm(x)

    class SelfAttention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads = heads
            self.head_size = dim // heads
            self.query = nn.Linear(dim, dim)
            self.key = nn.Linear(dim, dim)
            self.value = nn.Linear(dim, dim)

        def split_heads(self, x):
            b, t, _ = x.shape
            return x.view(b, t, self.heads, self.head_size).permute(0, 2, 1, 3)

        def forward(self, x, mask):
            q = self.split_heads(self.query(x))
            k = self.split_heads(self.key(x))
            v = self.split_heads(self.value(x))
            scores = torch.matmul(q, k.transpose(-1, -2))
            scores = scores / math.sqrt(self.head_size)
            probs = torch.softmax(scores + mask, dim=-1)
            context = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
            return context.view(x.shape)

    class Layer(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.attention = SelfAttention(dim, heads)
            self.attention_output = nn.Linear(dim, dim)
            self.attention_norm = nn.LayerNorm(dim, eps=1e-12)
            self.intermediate = nn.Linear(dim, 2 * dim)
            self.output = nn.Linear(2 * dim, dim)
            self.output_norm = nn.LayerNorm(dim, eps=1e-12)

        def forward(self, x, mask):
            attended = self.attention_output(self.attention(x, mask))
            x = self.attention_norm(attended + x)
            hidden = F.gelu(self.intermediate(x))
            return self.output_norm(self.output(hidden) + x)

    class Bert(nn.Module):
        def __init__(self, vocab=9, dim=8, heads=2):
            super().__init__()
            self.embeddings = Embeddings(vocab, dim)
            self.layer = Layer(dim, heads)
            self.transform = nn.Linear(dim, dim)
            self.transform_norm = nn.LayerNorm(dim, eps=1e-12)
            self.decoder = nn.Linear(dim, vocab, bias=False)
            self.bias = nn.Parameter(torch.zeros(vocab))

        def forward(self, tokens, segments, attention_mask, labels):
            mask = attention_mask[:, None, None, :].float()
            mask = (1.0 - mask) * -10000.0
            x = self.layer(self.embeddings(tokens, segments), mask)
            x = self.transform_norm(F.gelu(self.transform(x)))
            logits = self.decoder(x) + self.bias
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1).long())
            return loss, logits

    return Bert()


def jax_net():
    import math

    import jax
    import jax.numpy as jnp

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def norm(params, name, x):
        centred = x - x.mean(-1, keepdims=True)
        normal = centred * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-12)
        return normal * params[f"{name}.weight"] + params[f"{name}.bias"]

    def gelu(x):
        return jax.nn.gelu(x, approximate=False)

    def embeddings(params, tokens, segments):
        words = params["embeddings.word_embeddings.weight"][tokens]
        # The row of the padding is not trained.
        words = jnp.where(tokens[..., None] == 0, jax.lax.stop_gradient(words), words)
        x = words + params["embeddings.token_type_embeddings.weight"][segments]
        x = x + params["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        return norm(params, "embeddings.norm", x)

    def attention(params, name, x, mask, heads=2):
        b, t, c = x.shape

        def split_heads(x):
            return x.reshape(b, t, heads, c // heads).transpose(0, 2, 1, 3)

        q, k, v = (
            split_heads(dense(params, f"{name}.{part}", x)) for part in ("query", "key", "value")
        )
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(c // heads)
        probs = jax.nn.softmax(scores + mask, axis=-1)
        return (probs @ v).transpose(0, 2, 1, 3).reshape(b, t, c)

    def layer(params, x, mask):
        attended = attention(params, "layer.attention", x, mask)
        attended = dense(params, "layer.attention_output", attended)
        x = norm(params, "layer.attention_norm", attended + x)
        hidden = gelu(dense(params, "layer.intermediate", x))
        return norm(params, "layer.output_norm", dense(params, "layer.output", hidden) + x)

    def cross_entropy(logits, labels):
        is_masked = labels != -100
        scores = jax.nn.log_softmax(logits)
        right = jnp.where(is_masked, labels, 0)[..., None]
        each = jnp.take_along_axis(scores, right, axis=-1).squeeze(-1)
        return -(each * is_masked).sum() / is_masked.sum()

    def bert(params, tokens, segments, attention_mask, labels):
        x = embeddings(params, tokens, segments)
        mask = (1.0 - attention_mask[:, None, None, :].astype(x.dtype)) * -10000.0
        x = layer(params, x, mask)
        x = norm(params, "transform_norm", gelu(dense(params, "transform", x)))
        logits = x @ params["decoder.weight"].T + params["bias"]
        return cross_entropy(logits, labels), logits

    return bert
