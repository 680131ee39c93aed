"""Batch norm in inference mode.

The net of `batch_norm_train` with the same numbers, in inference mode. Now the running statistics
normalise, and they are constants: each output depends on its own sample alone, batch norm is a
scale and a shift, and the derivative with respect to `x` is just `weight / sqrt(running_var + eps)`
times what comes from above. Nothing is moved. Same input, same parameters, and every gradient is
another one than in training: whether a fine-tuned net has its batch norm frozen is no detail.

A MindSpore `Cell` is in this mode until told `set_train()`, a PyTorch `Module` only after `eval()`.
The ported loop that forgets the call trains with frozen statistics in MindSpore, and with moving
ones in PyTorch, and both learn something.
"""

import numpy as np


def inputs():
    return {"x": np.array([[1.0, -2.0], [3.0, 0.5], [-1.0, 1.0], [2.0, 4.5]], np.float32)}


def parameters():
    return {
        "bn.weight": np.array([1.5, 0.5], np.float32),
        "bn.bias": np.array([0.25, -0.5], np.float32),
        "bn.running_mean": np.array([0.5, -1.0], np.float32),
        "bn.running_var": np.array([4.0, 0.25], np.float32),
    }


def mindspore_net():
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(2, momentum=0.9)

        def construct(self, x):
            y = self.bn(x)
            return (y * y * y).sum()

    return Net()


def torch_net():
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(2, momentum=0.1)

        def forward(self, x):
            y = self.bn(x)
            return (y * y * y).sum()

    return Net()


def jax_net():
    import jax

    def net(params, x):
        centred = x - params["bn.running_mean"]
        normal = centred * jax.lax.rsqrt(params["bn.running_var"] + 1e-5)
        y = normal * params["bn.weight"] + params["bn.bias"]
        return (y * y * y).sum()

    return net
