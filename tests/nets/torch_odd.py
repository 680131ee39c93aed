"""What scenarios may do besides: an integer input, an unused one, a frozen weight, a view, and an
output off the tape.
"""

import numpy as np

OUTPUTS = ("loss", "turned", "best")


def inputs():
    random = np.random.default_rng(0)
    return {
        "x": random.normal(size=(3, 4)).astype(np.float32),
        "rows": np.array([0, 2]),
        "spare": np.ones(2, np.float32),
    }


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 2)
            self.frozen = nn.Linear(2, 2, bias=False)
            self.frozen.weight.requires_grad_(False)

        def forward(self, x, rows, spare):
            z = self.frozen(self.fc(x[rows]))
            return z.pow(2).sum() * torch.tensor(0.5), z.t(), z.argmax()

    return Net()
