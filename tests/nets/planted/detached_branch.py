"""A gate that was detached and is not any more.

The original lets no gradient through its gate; the port forgot `stop_gradient`. The forward is the
same to the last bit, the gradient before the gate is not.
"""

import numpy as np

FAULT = {
    "mindspore_line": "gate = ops.sigmoid(h)",
    "torch_line": "gate = torch.sigmoid(h.detach())",
}


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(5, 4)).round(2).astype(np.float32),
        "y": random.normal(size=(5, 2)).round(2).astype(np.float32),
    }


def parameters():
    random = np.random.default_rng(1)
    return {
        "fc1.weight": random.normal(scale=0.6, size=(4, 4)).round(2).astype(np.float32),
        "fc1.bias": random.normal(scale=0.6, size=4).round(2).astype(np.float32),
        "fc2.weight": random.normal(scale=0.6, size=(2, 4)).round(2).astype(np.float32),
        "fc2.bias": random.normal(scale=0.6, size=2).round(2).astype(np.float32),
    }


def mindspore_net():
    from mindspore import nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(4, 4)
            self.fc2 = nn.Dense(4, 2)
            self.loss = nn.MSELoss()

        def construct(self, x, y):
            h = self.fc1(x)
            gate = ops.sigmoid(h)
            h = h * gate
            h = ops.relu(h)
            z = self.fc2(h)
            return self.loss(z, y)

    return Net()


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(4, 4)
            self.fc2 = nn.Linear(4, 2)
            self.loss = nn.MSELoss()

        def forward(self, x, y):
            h = self.fc1(x)
            gate = torch.sigmoid(h.detach())
            h = h * gate
            h = torch.relu(h)
            z = self.fc2(h)
            return self.loss(z, y)

    return Net()
