"""An LSTM over three steps.

`nn.LSTM` has the same four parameters in both frameworks, of the same names and shapes: the gates
stand in the order input, forget, cell, output, in one matrix for the input and one for the state.
Weights can be copied as they are. The input is `(time, batch, features)` unless told
`batch_first=True`, and a state that is not given is zero. Each step uses the same weights, so their
gradients are sums over the steps, taken backwards through time. And there are two biases where one
would do: only their sum is ever used, so `bias_ih_l0` and `bias_hh_l0` have equal gradients,
always.

What differs is the graph. MindSpore has one operator for the whole sequence and one for its
gradient, and packs the four parameters into one flat weight before it. PyTorch's tape has one
operator each as well, where the kernel library allows. Its joint graph writes every step and every
gate out, six times as many nodes, and so follows the gradient through time step by step. The hidden
states come first in what the layer returns; `(hidden, cell)` of the last step come beside them, and
a port that takes those for the sequence trains on the last step alone.
"""

import numpy as np


def inputs():
    return {"x": np.array([[[0.5, -1.0]], [[1.0, 0.25]], [[-0.75, 1.5]]], np.float32)}


def parameters():
    random = np.random.default_rng(0)
    return {
        "lstm.weight_ih_l0": random.normal(scale=0.5, size=(8, 2)).round(2).astype(np.float32),
        "lstm.weight_hh_l0": random.normal(scale=0.5, size=(8, 2)).round(2).astype(np.float32),
        "lstm.bias_ih_l0": random.normal(scale=0.5, size=8).round(2).astype(np.float32),
        "lstm.bias_hh_l0": random.normal(scale=0.5, size=8).round(2).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(2, 2)

        def construct(self, x):
            hidden, _ = self.lstm(x)
            return (hidden * hidden).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(2, 2)

        def forward(self, x):
            hidden, _ = self.lstm(x)
            return (hidden * hidden).sum()

    return Net()


def jax_net():
    import jax
    import jax.numpy as jnp

    def net(params, x):
        def step(state, inputs):
            hidden, cell = state
            gates = inputs @ params["lstm.weight_ih_l0"].T + params["lstm.bias_ih_l0"]
            gates += hidden @ params["lstm.weight_hh_l0"].T + params["lstm.bias_hh_l0"]
            i, f, g, o = jnp.split(gates, 4, axis=-1)
            cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
            return (hidden, cell), hidden

        start = jnp.zeros((x.shape[1], 2), x.dtype)
        _, hidden = jax.lax.scan(step, (start, start), x)
        return (hidden * hidden).sum()

    return net
