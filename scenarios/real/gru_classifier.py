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
