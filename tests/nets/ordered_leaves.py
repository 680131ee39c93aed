"""A net whose first output passes no gradient on, with two weights that are told apart by theirs."""

import numpy as np

OUTPUTS = ("kept", "loss")


def inputs():
    return {"x": np.array([2.0, -1.0], np.float32)}


def parameters():
    return {"first": np.array([3.0, 5.0], np.float32), "second": np.array([7.0, 11.0], np.float32)}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Parameter(torch.ones(2))
            self.second = nn.Parameter(torch.ones(2))

        def forward(self, x):
            return (x * self.first).detach(), x * self.first + self.second**2

    return Net()


def mindspore_net():
    import mindspore as ms
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = ms.Parameter(ops.ones(2))
            self.second = ms.Parameter(ops.ones(2))

        def construct(self, x):
            return ops.stop_gradient(x * self.first), x * self.first + self.second**2

    return Net()
