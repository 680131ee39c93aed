"""A mistake before a mask that the compiler folds on one side."""

import numpy as np

FAULT = {
    "mindspore_line": "h = ops.tanh(x * 2.0)",
    "torch_line": "h = torch.tanh(x * 3.0)",
}


def inputs():
    return {"x": np.array([[0.5, -1.0, 2.0], [0.1, 0.3, -0.4], [1.0, 2.0, 0.7]], np.float32)}


def mindspore_net():
    import mindspore as ms
    from mindspore import Tensor, nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mask = Tensor(np.tril(np.ones((3, 3), np.float32)))

        def construct(self, x):
            hidden = self.mask == 0
            h = ops.tanh(x * 2.0)
            h = ops.masked_fill(h, hidden, Tensor(-9.0, ms.float32))
            return ops.softmax(h, -1)[:, 0].sum()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.mask = torch.tril(torch.ones(3, 3))

        def forward(self, x):
            hidden = self.mask == 0
            h = torch.tanh(x * 3.0)
            h = h.masked_fill(hidden, -9.0)
            return torch.softmax(h, -1)[:, 0].sum()

    return Net()
