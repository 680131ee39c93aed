"""The first step of a training in PyTorch, as step_in_mindspore.py takes it.

`python step_in_torch.py OUT WEIGHTS` writes its trace into OUT; WEIGHTS is an .npz file.
"""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import explorer


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.LayerNorm(16)
        self.middle = nn.Linear(16, 16)
        self.last = nn.Linear(16, 3)

    def forward(self, x):
        hidden = F.gelu(self.first(x))
        hidden = hidden + torch.tanh(self.middle(self.norm(hidden)))
        return self.last(hidden)


def main(out, given):
    net = Net()
    names = set(given) - {"x", "y"}
    net.load_state_dict({name: torch.from_numpy(given[name]) for name in names})
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    with explorer.record(out / "torch.trace", step=1):
        loss = nn.CrossEntropyLoss()(
            net(torch.from_numpy(given["x"])), torch.from_numpy(given["y"])
        )
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(Path(sys.argv[1]), np.load(sys.argv[2]))
