"""Linear map with binary cross entropy.

`z = x·w + b`, then binary cross entropy of the logits `z`. Here `w` and `b` are bare parameters,
not those of a layer, and both nets keep them as `(inputs, outputs)`: nothing is transposed on the
way.

The sigmoid and the logarithm are one operator in both frameworks, because apart they overflow; its
derivative with respect to the logits is simply (σ(z) − y) / n, with n elements in the mean. The
target is an ordinary float input, so it has a derivative as well: −z / n. The net returns `z`
beside the loss. Differentiating both (`has_aux=False`) adds the sum of `x` to every column of the
weight's gradient; `has_aux=True`, or a `stop_gradient` on `z`, keeps the extra output out of it.
"""

import numpy as np

OUTPUTS = ("loss", "z")


def inputs():
    return {
        "x": np.array([[1.0, -0.5, 2.0, 0.25], [0.5, 1.5, -1.0, 1.0]], np.float32),
        "y": np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], np.float32),
    }


def parameters():
    return {
        "w": np.array(
            [[0.5, -0.25, 0.75], [-1.0, 0.5, 0.25], [0.25, 1.0, -0.5], [0.1, -0.3, 0.2]], np.float32
        ),
        "b": np.array([0.1, -0.2, 0.3], np.float32),
    }


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ops.zeros((4, 3)))
            self.b = ms.Parameter(ops.zeros(3))
            self.loss = nn.BCEWithLogitsLoss()

        def construct(self, x, y):
            z = ops.matmul(x, self.w) + self.b
            return self.loss(z, y), z

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(4, 3))
            self.b = nn.Parameter(torch.zeros(3))
            self.loss = nn.BCEWithLogitsLoss()

        def forward(self, x, y):
            z = torch.matmul(x, self.w) + self.b
            return self.loss(z, y), z

    return Net()


def jax_net():
    import jax

    def net(params, x, y):
        z = x @ params["w"] + params["b"]
        losses = y * jax.nn.log_sigmoid(z) + (1 - y) * jax.nn.log_sigmoid(-z)
        return -losses.mean(), z

    return net
