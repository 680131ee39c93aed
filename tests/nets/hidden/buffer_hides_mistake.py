"""A mistake behind a buffer that is a plain tensor on the other side."""

import numpy as np

FAULT = {
    "mindspore_line": "return (ops.tanh(x) * self.scale).sum()",
    "torch_line": "return (torch.sigmoid(x) * self.scale).sum()",
}


def inputs():
    return {"x": np.array([0.5, -1.0, 2.0], np.float32)}


def mindspore_net():
    from mindspore import Tensor, nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scale = Tensor(np.array([1.0, 2.0, 3.0], np.float32))

        def construct(self, x):
            return (ops.tanh(x) * self.scale).sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0]))

        def forward(self, x):
            return (torch.sigmoid(x) * self.scale).sum()

    return Net()
