"""An encoder and a decoder for translation, as first published.

Modelled on Vaswani et al., "Attention is all you need" (2017): embeddings scaled by the root of the
width, sinusoidal positions, norm after each residual sum, a decoder that looks back at itself and
across at the encoder, and label smoothing of 0.1.

Watch the sinusoids, sine at even places and cosine at odd ones from position zero, and the smoothing:
both frameworks share the weight 0.1 among *all* classes, the right one included, where the paper's
own code shares it among the others.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("source", "target")


def inputs():
    return {
        "source": np.array([[4, 2, 7], [1, 6, 3]], np.int32),
        "target": np.array([[1, 5, 3, 2], [1, 7, 2, 6]], np.int32),
    }


def mindspore_net():
    import math

    import mindspore as ms
    from mindspore import nn, ops

    def sinusoids(length, dim):
        position = np.arange(length)[:, None]
        rate = np.exp(np.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        table = np.zeros((length, dim), np.float32)
        table[:, 0::2] = np.sin(position * rate)
        table[:, 1::2] = np.cos(position * rate)
        return ms.Tensor(table)

    class Attention(nn.Cell):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads = heads
            self.q = nn.Dense(dim, dim)
            self.k = nn.Dense(dim, dim)
            self.v = nn.Dense(dim, dim)
            self.out = nn.Dense(dim, dim)

        def split(self, x):
            return x.reshape(x.shape[0], x.shape[1], self.heads, -1).swapaxes(1, 2)

        def construct(self, x, memory, mask=None):
            q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
            scores = ops.matmul(q, k.swapaxes(2, 3)) / math.sqrt(q.shape[-1])
            if mask is not None:
                scores = ops.masked_fill(scores, mask, -1e9)
            mixed = ops.matmul(ops.softmax(scores, -1), v)
            return self.out(mixed.swapaxes(1, 2).reshape(x.shape))

    class FeedForward(nn.Cell):
        def __init__(self, dim, hidden):
            super().__init__()
            self.w1 = nn.Dense(dim, hidden)
            self.w2 = nn.Dense(hidden, dim)

        def construct(self, x):
            return self.w2(ops.relu(self.w1(x)))

    class EncoderLayer(nn.Cell):
        def __init__(self, dim, heads):
            super().__init__()
            self.self_attention = Attention(dim, heads)
            self.feed_forward = FeedForward(dim, 12)
            self.norm1 = nn.LayerNorm((dim,), epsilon=1e-5)
            self.norm2 = nn.LayerNorm((dim,), epsilon=1e-5)

        def construct(self, x):
            x = self.norm1(x + self.self_attention(x, x))
            return self.norm2(x + self.feed_forward(x))

    class DecoderLayer(nn.Cell):
        def __init__(self, dim, heads):
            super().__init__()
            self.self_attention = Attention(dim, heads)
            self.cross_attention = Attention(dim, heads)
            self.feed_forward = FeedForward(dim, 12)
            self.norm1 = nn.LayerNorm((dim,), epsilon=1e-5)
            self.norm2 = nn.LayerNorm((dim,), epsilon=1e-5)
            self.norm3 = nn.LayerNorm((dim,), epsilon=1e-5)

        def construct(self, x, memory, future):
            x = self.norm1(x + self.self_attention(x, x, future))
            x = self.norm2(x + self.cross_attention(x, memory))
            return self.norm3(x + self.feed_forward(x))

    class Transformer(nn.Cell):
        def __init__(self, vocab=9, dim=8, heads=2):
            super().__init__()
            self.dim = dim
            self.embed = nn.Embedding(vocab, dim)
            self.positions = sinusoids(10, dim)
            self.encoder = EncoderLayer(dim, heads)
            self.decoder = DecoderLayer(dim, heads)
            self.generator = nn.Dense(dim, vocab)
            self.loss = nn.CrossEntropyLoss(label_smoothing=0.1)

        def embedded(self, tokens):
            return self.embed(tokens) * math.sqrt(self.dim) + self.positions[: tokens.shape[1]]

        def construct(self, source, target):
            shifted, expected = target[:, :-1], target[:, 1:]
            length = shifted.shape[1]
            future = ops.triu(ops.ones((length, length), ms.float32), 1).astype(ms.bool_)
            memory = self.encoder(self.embedded(source))
            x = self.decoder(self.embedded(shifted), memory, future)
            logits = self.generator(x)
            loss = self.loss(logits.reshape(-1, logits.shape[-1]), expected.reshape(-1))
            return loss, logits

    return Transformer()


def torch_net():
    import math

    import torch
    from torch import nn
    from torch.nn import functional as F

    def sinusoids(length, dim):
        position = torch.arange(length).unsqueeze(1)
        rate = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        table = torch.zeros(length, dim)
        table[:, 0::2] = torch.sin(position * rate)
        table[:, 1::2] = torch.cos(position * rate)
        return table

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads = heads
            self.q = nn.Linear(dim, dim)
            self.k = nn.Linear(dim, dim)
            self.v = nn.Linear(dim, dim)
            self.out = nn.Linear(dim, dim)

        def split(self, x):
            return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

        def forward(self, x, memory, mask=None):
            q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
            scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
            if mask is not None:
                scores = scores.masked_fill(mask, -1e9)
            mixed = torch.matmul(scores.softmax(dim=-1), v)
            return self.out(mixed.transpose(1, 2).reshape(x.shape))

    class FeedForward(nn.Module):
        def __init__(self, dim, hidden):
            super().__init__()
            self.w1 = nn.Linear(dim, hidden)
            self.w2 = nn.Linear(hidden, dim)

        def forward(self, x):
            return self.w2(F.relu(self.w1(x)))

    class EncoderLayer(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.self_attention = Attention(dim, heads)
            self.feed_forward = FeedForward(dim, 12)
            self.norm1 = nn.LayerNorm(dim)
            self.norm2 = nn.LayerNorm(dim)

        def forward(self, x):
            x = self.norm1(x + self.self_attention(x, x))
            return self.norm2(x + self.feed_forward(x))

    class DecoderLayer(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.self_attention = Attention(dim, heads)
            self.cross_attention = Attention(dim, heads)
            self.feed_forward = FeedForward(dim, 12)
            self.norm1 = nn.LayerNorm(dim)
            self.norm2 = nn.LayerNorm(dim)
            self.norm3 = nn.LayerNorm(dim)

        def forward(self, x, memory, future):
            x = self.norm1(x + self.self_attention(x, x, future))
            x = self.norm2(x + self.cross_attention(x, memory))
            return self.norm3(x + self.feed_forward(x))

    class Transformer(nn.Module):
        def __init__(self, vocab=9, dim=8, heads=2):
            super().__init__()
            self.dim = dim
            self.embed = nn.Embedding(vocab, dim)
            self.register_buffer("positions", sinusoids(10, dim), persistent=False)
            self.encoder = EncoderLayer(dim, heads)
            self.decoder = DecoderLayer(dim, heads)
            self.generator = nn.Linear(dim, vocab)
            self.loss = nn.CrossEntropyLoss(label_smoothing=0.1)

        def embedded(self, tokens):
            return self.embed(tokens) * math.sqrt(self.dim) + self.positions[: tokens.size(1)]

        def forward(self, source, target):
            shifted, expected = target[:, :-1], target[:, 1:]
            length = shifted.size(1)
            future = torch.ones(length, length, dtype=torch.bool, device=source.device).triu(1)
            memory = self.encoder(self.embedded(source))
            x = self.decoder(self.embedded(shifted), memory, future)
            logits = self.generator(x)
            loss = self.loss(logits.reshape(-1, logits.size(-1)), expected.reshape(-1).long())
            return loss, logits

    return Transformer()


def jax_net():
    import math

    import jax
    import jax.numpy as jnp

    def sinusoids(length, dim):
        position = np.arange(length)[:, None]
        rate = np.exp(np.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        angles = position * rate
        return np.stack((np.sin(angles), np.cos(angles)), -1).reshape(length, dim)

    def dense(params, name, x):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    def norm(params, name, x):
        centred = x - x.mean(-1, keepdims=True)
        normal = centred * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
        return normal * params[f"{name}.weight"] + params[f"{name}.bias"]

    def attention(params, name, x, memory, mask=None, heads=2):
        def split(part, x):
            projected = dense(params, f"{name}.{part}", x)
            return projected.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)

        q, k, v = split("q", x), split("k", memory), split("v", memory)
        scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = jnp.where(mask, -1e9, scores)
        mixed = jax.nn.softmax(scores, axis=-1) @ v
        return dense(params, f"{name}.out", mixed.swapaxes(1, 2).reshape(x.shape))

    def feed_forward(params, name, x):
        return dense(params, f"{name}.w2", jax.nn.relu(dense(params, f"{name}.w1", x)))

    def encoder(params, x):
        x = norm(params, "encoder.norm1", x + attention(params, "encoder.self_attention", x, x))
        return norm(params, "encoder.norm2", x + feed_forward(params, "encoder.feed_forward", x))

    def decoder(params, x, memory, future):
        attended = attention(params, "decoder.self_attention", x, x, future)
        x = norm(params, "decoder.norm1", x + attended)
        attended = attention(params, "decoder.cross_attention", x, memory)
        x = norm(params, "decoder.norm2", x + attended)
        return norm(params, "decoder.norm3", x + feed_forward(params, "decoder.feed_forward", x))

    def embedded(params, tokens, dim=8):
        positions = sinusoids(tokens.shape[1], dim).astype(np.float32)
        return params["embed.weight"][tokens] * math.sqrt(dim) + positions

    def smoothed_cross_entropy(logits, label, smoothing=0.1):
        scores = jax.nn.log_softmax(logits)
        right = jnp.take_along_axis(scores, label[..., None], axis=-1).squeeze(-1)
        return -((1 - smoothing) * right + smoothing * scores.mean(-1)).mean()

    def transformer(params, source, target):
        shifted, expected = target[:, :-1], target[:, 1:]
        length = shifted.shape[1]
        future = jnp.triu(jnp.ones((length, length), bool), 1)
        memory = encoder(params, embedded(params, source))
        x = decoder(params, embedded(params, shifted), memory, future)
        logits = dense(params, "generator", x)
        return smoothed_cross_entropy(logits, expected), logits

    return transformer
