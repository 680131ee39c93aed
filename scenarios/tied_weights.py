"""An encoder and a decoder that share one weight.

An autoencoder encodes with `w`ᵀ and decodes with `w`. One parameter stands at two places, once
transposed, and its gradient is the **sum** of both uses: what the decoder says, as it is, plus what
the encoder says, transposed back. In the graph that sum is a node of its own, with one operand that
comes through a transposition.

Whoever ports such a net may tie the weights in two ways that look alike. One Parameter used twice
is tied for good, in both frameworks. A second layer that was *given a copy* of the value
(`set_data`, `copy_`) starts out the same and parts at the first step, for each copy then receives
the gradient of its own use alone. In MindSpore a shared Parameter has one name, the one of the Cell
that owns it; in PyTorch `named_parameters()` lists it once, and a state dict twice.
"""

import numpy as np


def inputs():
    return {"x": np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]], np.float64)}


def parameters():
    return {"w": np.array([[0.5, -0.25, 0.75], [-1.0, 0.5, 0.25]], np.float64)}


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ops.zeros((2, 3), ms.float64))

        def construct(self, x):
            code = ops.tanh(ops.matmul(x, self.w.T))
            error = ops.matmul(code, self.w) - x
            return (error * error).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(2, 3, dtype=torch.float64))

        def forward(self, x):
            code = torch.tanh(torch.matmul(x, self.w.T))
            error = torch.matmul(code, self.w) - x
            return (error * error).sum()

    return Net()


def jax_net():
    import jax.numpy as jnp

    def net(params, x):
        code = jnp.tanh(x @ params["w"].T)
        error = code @ params["w"] - x
        return (error * error).sum()

    return net
