"""A GRU that classifies sequences.

Modelled on Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014): an
embedding, a gated recurrent unit, and a linear layer on the last hidden state.

Watch the two things that are called the state: the outputs of all steps, and the last one alone, of
shape (layers, batch, features) in both frameworks and whatever `batch_first` says. The reset gate is
applied after the product with the hidden weight in both, so that there are two biases of the new
state that are not interchangeable.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("tokens", "label")


def inputs():
    return {
        "tokens": np.array([[3, 1, 4, 6], [5, 2, 2, 7]], np.int32),
        "label": np.array([1, 2], np.int32),
    }


def mindspore_net():
    from mindspore import nn

    class GRUClassifier(nn.Cell):
        def __init__(self, vocab=8, embed_dim=4, hidden=5, num_classes=3):
            super().__init__()
            self.embedding = nn.Embedding(vocab, embed_dim)
            self.gru = nn.GRU(embed_dim, hidden, batch_first=True)
            self.fc = nn.Dense(hidden, num_classes)
            self.loss = nn.CrossEntropyLoss()

        def construct(self, tokens, label):
            _, hidden = self.gru(self.embedding(tokens))
            logits = self.fc(hidden[-1])
            return self.loss(logits, label), logits

    return GRUClassifier()


def torch_net():
    from torch import nn

    class GRUClassifier(nn.Module):
        def __init__(self, vocab=8, embed_dim=4, hidden=5, num_classes=3):
            super().__init__()
            self.embedding = nn.Embedding(vocab, embed_dim)
            self.gru = nn.GRU(embed_dim, hidden, batch_first=True)
            self.fc = nn.Linear(hidden, num_classes)
            self.loss = nn.CrossEntropyLoss()

        def forward(self, tokens, label):
            _, hidden = self.gru(self.embedding(tokens))
            logits = self.fc(hidden[-1])
            return self.loss(logits, label.long()), logits

    return GRUClassifier()


def jax_net():
    import jax
    import jax.numpy as jnp

    def net(params, tokens, label):
        def step(hidden, inputs):
            of_input = inputs @ params["gru.weight_ih_l0"].T + params["gru.bias_ih_l0"]
            of_hidden = hidden @ params["gru.weight_hh_l0"].T + params["gru.bias_hh_l0"]
            reset_x, update_x, new_x = jnp.split(of_input, 3, axis=-1)
            reset_h, update_h, new_h = jnp.split(of_hidden, 3, axis=-1)
            reset = jax.nn.sigmoid(reset_x + reset_h)
            update = jax.nn.sigmoid(update_x + update_h)
            new = jnp.tanh(new_x + reset * new_h)
            return (1 - update) * new + update * hidden, None

        x = params["embedding.weight"][tokens]
        hidden, _ = jax.lax.scan(step, jnp.zeros((len(x), 5), x.dtype), x.swapaxes(0, 1))
        logits = hidden @ params["fc.weight"].T + params["fc.bias"]
        scores = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(scores, label[:, None], axis=1).mean(), logits

    return net
