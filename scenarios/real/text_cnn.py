"""A convolutional sentence classifier.

Modelled on Kim, "Convolutional neural networks for sentence classification" (2014): windows of two
and three words over the embeddings, the greatest answer of each filter over time, dropout, and a linear
layer.

Watch the padding, word 0 here, which has a row like any other. With `padding_idx=0` PyTorch starts the
row at zero and never moves it; MindSpore (2.10) starts it at zero and trains it with the rest. The
convolution is a two-dimensional one whose window is as wide as the embedding, and the maximum over time
passes its gradient to one window only. MindSpore's `nn.Dropout(0.25)` keeps a quarter, for its first
argument is still the rate to keep; PyTorch's drops one. Write `p=0.25`.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
TRAIN = True
SAME_DROPOUT = True
CONSTANTS = ("tokens", "label")


def inputs():
    return {
        "tokens": np.array([[3, 1, 4, 6, 5], [5, 2, 7, 0, 0]], np.int32),
        "label": np.array([1, 0], np.int32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class TextCNN(nn.Cell):
        def __init__(self, vocab=9, embed_dim=4, filters=3, num_classes=2):
            super().__init__()
            self.embedding = nn.Embedding(vocab, embed_dim)
            self.convs = nn.CellList(
                [
                    nn.Conv2d(1, filters, (k, embed_dim), pad_mode="valid", has_bias=True)
                    for k in (2, 3)
                ]
            )
            self.dropout = nn.Dropout(p=0.25)
            self.fc = nn.Dense(2 * filters, num_classes)

        def construct(self, tokens, label):
            x = self.embedding(tokens).expand_dims(1)
            pooled = []
            for conv in self.convs:
                y = ops.relu(conv(x)).squeeze(3)
                pooled.append(ops.amax(y, axis=2))
            logits = self.fc(self.dropout(ops.cat(pooled, axis=1)))
            return ops.cross_entropy(logits, label), logits

    return TextCNN()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class TextCNN(nn.Module):
        def __init__(self, vocab=9, embed_dim=4, filters=3, num_classes=2):
            super().__init__()
            self.embedding = nn.Embedding(vocab, embed_dim)
            self.convs = nn.ModuleList([nn.Conv2d(1, filters, (k, embed_dim)) for k in (2, 3)])
            self.dropout = nn.Dropout(p=0.25)
            self.fc = nn.Linear(2 * filters, num_classes)

        def forward(self, tokens, label):
            x = self.embedding(tokens).unsqueeze(1)
            pooled = []
            for conv in self.convs:
                y = F.relu(conv(x)).squeeze(3)
                pooled.append(F.max_pool1d(y, y.size(2)).squeeze(2))
            logits = self.fc(self.dropout(torch.cat(pooled, 1)))
            return F.cross_entropy(logits, label.long()), logits

    return TextCNN()
