"""The step of recorded_graph_steps.py in PyTorch; its argument is GELU's ``approximate``."""

import sys

import numpy as np
import torch
from torch import nn

draws = np.random.RandomState(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.act = nn.GELU(approximate=sys.argv[1])
        self.norm = nn.LayerNorm(8, eps=1e-5)
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        return self.last(self.norm(self.act(self.first(x))))


net = Net()
with torch.no_grad():
    for name in ("first", "norm", "last"):
        for parameter in getattr(net, name).parameters():
            parameter.copy_(torch.from_numpy(draws.randn(*parameter.shape).astype(np.float32)))
x = torch.from_numpy(draws.randn(5, 4).astype(np.float32))
target = torch.from_numpy(draws.randint(0, 3, (5,)))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
nn.CrossEntropyLoss()(net(x), target).backward()
optimizer.step()
