"""A recurrent layer with two biases, of which the port holds both and adds one."""

import numpy as np


def inputs():
    random = np.random.default_rng(3)
    return {"x": random.standard_normal((2, 3, 4)).astype(np.float32)}


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.up = nn.Dense(4, 5)
            self.back = nn.Dense(5, 5)

        def construct(self, x):
            hidden = ops.zeros((2, 5))
            for step in range(3):
                given = self.up(x[:, step])
                hidden = ops.tanh(given + ops.matmul(hidden, self.back.weight.swapaxes(0, 1)))
            return (hidden**2).mean()

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.up = nn.Linear(4, 5)
            self.back = nn.Linear(5, 5)

        def forward(self, x):
            hidden = torch.zeros(2, 5)
            weights = self.up.weight, self.back.weight, self.up.bias, self.back.bias
            for step in range(3):
                hidden = torch.rnn_tanh_cell(x[:, step], hidden, *weights)
            return (hidden**2).mean()

    return Net()
