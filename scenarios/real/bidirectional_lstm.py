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


def jax_net():
    import jax
    import jax.numpy as jnp

    def lstm(params, end, x, reverse):
        def step(state, inputs):
            hidden, cell = state
            gates = inputs @ params[f"lstm.weight_ih_{end}"].T + params[f"lstm.bias_ih_{end}"]
            gates += hidden @ params[f"lstm.weight_hh_{end}"].T + params[f"lstm.bias_hh_{end}"]
            i, f, g, o = jnp.split(gates, 4, axis=-1)
            cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
            return (hidden, cell), None

        start = jnp.zeros((len(x), 4), x.dtype)
        (hidden, _), _ = jax.lax.scan(step, (start, start), x.swapaxes(0, 1), reverse=reverse)
        return hidden

    def net(params, x, label):
        forwards = lstm(params, "l0", x, reverse=False)
        backwards = lstm(params, "l0_reverse", x, reverse=True)
        last = jnp.concatenate((forwards, backwards), axis=1)
        logits = (last @ params["fc.weight"].T + params["fc.bias"]).squeeze(1)
        losses = jnp.where(label == 1, jax.nn.log_sigmoid(logits), jax.nn.log_sigmoid(-logits))
        return -losses.mean(), logits

    return net
