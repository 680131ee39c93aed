"""An LSTM that tags each word.

Modelled on the taggers of Huang et al. ("Bidirectional LSTM-CRF models for sequence tagging", 2015)
in their plainest form: embedding, LSTM, a linear layer on every step, cross entropy over all words
that are no padding.

Watch the tags of padded words: `ignore_index` keeps them out of the loss *and* out of what it divides
by, so a port that multiplies with a mask and takes the mean has a loss that shrinks with the padding.
"""

import numpy as np

OUTPUTS = ("loss", "scores")
CONSTANTS = ("words", "tags")


def inputs():
    return {
        "words": np.array([[3, 1, 4, 5], [6, 2, 7, 1]], np.int32),
        "tags": np.array([[2, 0, 1, -1], [1, 2, -1, -1]], np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Tagger(nn.Cell):
        def __init__(self, vocab=8, embed_dim=4, hidden=5, tags=3):
            super().__init__()
            self.embedding = nn.Embedding(vocab, embed_dim)
            self.lstm = nn.LSTM(embed_dim, hidden, batch_first=True)
            self.hidden2tag = nn.Dense(hidden, tags)

        def construct(self, words, tags):
            out, _ = self.lstm(self.embedding(words))
            scores = ops.log_softmax(self.hidden2tag(out), axis=-1)
            flat = scores.view(-1, scores.shape[-1])
            loss = ops.nll_loss(flat, tags.view(-1), ignore_index=-1)
            return loss, scores

    return Tagger()


def torch_net():
    from torch import nn
    from torch.nn import functional as F

    class Tagger(nn.Module):
        def __init__(self, vocab=8, embed_dim=4, hidden=5, tags=3):
            super().__init__()
            self.embedding = nn.Embedding(vocab, embed_dim)
            self.lstm = nn.LSTM(embed_dim, hidden, batch_first=True)
            self.hidden2tag = nn.Linear(hidden, tags)

        def forward(self, words, tags):
            out, _ = self.lstm(self.embedding(words))
            scores = F.log_softmax(self.hidden2tag(out), dim=-1)
            flat = scores.view(-1, scores.size(-1))
            loss = F.nll_loss(flat, tags.view(-1).long(), ignore_index=-1)
            return loss, scores

    return Tagger()


def jax_net():
    import jax
    import jax.numpy as jnp

    def lstm(params, x):
        def step(state, inputs):
            hidden, cell = state
            gates = inputs @ params["lstm.weight_ih_l0"].T + params["lstm.bias_ih_l0"]
            gates += hidden @ params["lstm.weight_hh_l0"].T + params["lstm.bias_hh_l0"]
            i, f, g, o = jnp.split(gates, 4, axis=-1)
            cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
            return (hidden, cell), hidden

        start = jnp.zeros((len(x), 5), x.dtype)
        _, out = jax.lax.scan(step, (start, start), x.swapaxes(0, 1))
        return out.swapaxes(0, 1)

    def net(params, words, tags):
        out = lstm(params, params["embedding.weight"][words])
        scores = out @ params["hidden2tag.weight"].T + params["hidden2tag.bias"]
        scores = jax.nn.log_softmax(scores)
        is_tagged = tags != -1
        right = jnp.where(is_tagged, tags, 0)[..., None]
        each = jnp.take_along_axis(scores, right, axis=-1).squeeze(-1)
        return -(each * is_tagged).sum() / is_tagged.sum(), scores

    return net
