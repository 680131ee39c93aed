"""A bidirectional LSTM for sentiment.

Modelled on Graves and Schmidhuber, "Framewise phoneme classification with bidirectional LSTM" (2005):
one LSTM reads forwards, one backwards, and the last state of each goes into a linear layer.

Watch which two states are the last ones. The backward direction ends at the *first* word, so the
output of the last step holds hardly anything of it; `hidden[-2]` and `hidden[-1]` of the returned
state are right. Parameters of the backward direction end in `_reverse` in both frameworks.
"""

import numpy as np

OUTPUTS = ("loss", "logits")
CONSTANTS = ("label",)


def inputs():
    random = np.random.default_rng(16)
    return {
        "x": random.normal(size=(2, 4, 3)).astype(np.float32),
        "label": np.array([1, 0], np.int32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class BiLSTM(nn.Cell):
        def __init__(self, features=3, hidden=4):
            super().__init__()
            self.lstm = nn.LSTM(features, hidden, batch_first=True, bidirectional=True)
            self.fc = nn.Dense(2 * hidden, 1)

        def construct(self, x, label):
            _, (hidden, _) = self.lstm(x)
            last = ops.cat((hidden[-2], hidden[-1]), axis=1)
            logits = self.fc(last).squeeze(1)
            target = label.astype(ms.float32)
            loss = ops.binary_cross_entropy_with_logits(
                logits, target, ops.ones_like(logits), ops.ones_like(logits)
            )
            return loss, logits

    return BiLSTM()


def torch_net():
    import torch
    from torch import nn
    from torch.nn import functional as F

    class BiLSTM(nn.Module):
        def __init__(self, features=3, hidden=4):
            super().__init__()
            self.lstm = nn.LSTM(features, hidden, batch_first=True, bidirectional=True)
            self.fc = nn.Linear(2 * hidden, 1)

        def forward(self, x, label):
            _, (hidden, _) = self.lstm(x)
            last = torch.cat((hidden[-2], hidden[-1]), dim=1)
            logits = self.fc(last).squeeze(1)
            loss = F.binary_cross_entropy_with_logits(logits, label.float())
            return loss, logits

    return BiLSTM()
