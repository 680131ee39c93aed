"""A decoder step that attends over encoder states.

Modelled on Luong et al., "Effective approaches to attention-based neural machine translation" (2015):
a GRU cell advances the decoder, its state is compared with every encoder state through a matrix, and
the weighted mean of these, put beside the state, predicts the next word.

Watch the comparison, `state · W · memory`, where a dense layer holds W and so has it transposed. The
softmax runs over the positions of the source; over the batch it would sum to one as well.
"""

import numpy as np

OUTPUTS = ("loss", "weights")
CONSTANTS = ("word", "next_word")


def inputs():
    random = np.random.default_rng(38)
    return {
        "word": np.array([3, 1], np.int32),
        "state": random.normal(size=(2, 5)).astype(np.float32),
        "memory": random.normal(size=(2, 4, 5)).astype(np.float32),
        "next_word": np.array([2, 4], np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Decoder(nn.Cell):
        def __init__(self, vocab=6, embed_dim=3, hidden=5):
            super().__init__()
            self.embedding = nn.Embedding(vocab, embed_dim)
            self.cell = nn.GRUCell(embed_dim, hidden)
            self.attention = nn.Dense(hidden, hidden, has_bias=False)
            self.combine = nn.Dense(2 * hidden, hidden)
            self.out = nn.Dense(hidden, vocab)

        def construct(self, word, state, memory, next_word):
            state = self.cell(self.embedding(word), state)
            scores = ops.bmm(self.attention(memory), state.expand_dims(2)).squeeze(2)
            weights = ops.softmax(scores, axis=1)
            context = ops.bmm(weights.expand_dims(1), memory).squeeze(1)
            mixed = ops.tanh(self.combine(ops.cat((context, state), axis=1)))
            return ops.cross_entropy(self.out(mixed), next_word), weights

    return Decoder()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Decoder(nn.Module):
        def __init__(self, vocab=6, embed_dim=3, hidden=5):
            super().__init__()
            self.embedding = nn.Embedding(vocab, embed_dim)
            self.cell = nn.GRUCell(embed_dim, hidden)
            self.attention = nn.Linear(hidden, hidden, bias=False)
            self.combine = nn.Linear(2 * hidden, hidden)
            self.out = nn.Linear(hidden, vocab)

        def forward(self, word, state, memory, next_word):
            state = self.cell(self.embedding(word), state)
            scores = torch.bmm(self.attention(memory), state.unsqueeze(2)).squeeze(2)
            weights = F.softmax(scores, dim=1)
            context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
            mixed = torch.tanh(self.combine(torch.cat((context, state), dim=1)))
            return F.cross_entropy(self.out(mixed), next_word.long()), weights

    return Decoder()


def jax_net():
    import jax
    import jax.numpy as jnp

    def gru_cell(params, x, hidden):
        of_input = x @ params["cell.weight_ih"].T + params["cell.bias_ih"]
        of_hidden = hidden @ params["cell.weight_hh"].T + params["cell.bias_hh"]
        reset_x, update_x, new_x = jnp.split(of_input, 3, axis=-1)
        reset_h, update_h, new_h = jnp.split(of_hidden, 3, axis=-1)
        reset = jax.nn.sigmoid(reset_x + reset_h)
        update = jax.nn.sigmoid(update_x + update_h)
        new = jnp.tanh(new_x + reset * new_h)
        return (1 - update) * new + update * hidden

    def net(params, word, state, memory, next_word):
        state = gru_cell(params, params["embedding.weight"][word], state)
        scores = jnp.einsum("bth,bh->bt", memory @ params["attention.weight"].T, state)
        weights = jax.nn.softmax(scores, axis=1)
        context = jnp.einsum("bt,bth->bh", weights, memory)
        mixed = jnp.concatenate((context, state), axis=1)
        mixed = jnp.tanh(mixed @ params["combine.weight"].T + params["combine.bias"])
        log_probs = jax.nn.log_softmax(mixed @ params["out.weight"].T + params["out.bias"])
        return -jnp.take_along_axis(log_probs, next_word[:, None], axis=1).mean(), weights

    return net
