"""A dense layer with more elements than the oracle estimates one by one, and dropout."""

import numpy as np

OUTPUTS = ("loss", "hidden")
TRAIN = True


def inputs():
    random = np.random.default_rng(0)
    return {"x": random.normal(size=(4, 40)).astype(np.float32)}


def torch_net():
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(40, 20)
            self.norm = nn.BatchNorm1d(20)
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            hidden = self.drop(torch.tanh(self.norm(self.fc(x))))
            return hidden.pow(2).mean(), hidden

    return Net()
