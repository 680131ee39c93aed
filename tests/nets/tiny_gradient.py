"""A gradient of 1e-12 that PyTorch's net lets through by half, beside one that is right."""

import numpy as np

FAULT = {
    "mindspore_line": "used = x * 1.5",
    "torch_line": "used = x * 0.75 + (x * 0.75).detach()",
}


def inputs():
    drawn = np.random.default_rng(8)
    x = drawn.uniform(0.5, 1.5, (3, 4)).astype(np.float32)
    y = drawn.uniform(0.5, 1.5, (3, 4)).astype(np.float32)
    return {"x": x, "y": y}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def construct(self, x, y):
            used = x * 1.5
            return (ops.tanh(used) * y).sum() * 1e-12

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def forward(self, x, y):
            used = x * 0.75 + (x * 0.75).detach()
            return (torch.tanh(used) * y).sum() * 1e-12

    return Net()
