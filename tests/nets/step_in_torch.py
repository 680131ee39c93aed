"""The first step of a training in PyTorch, as step_in_mindspore.py takes it, and with mistakes.

`python step_in_torch.py OUT WEIGHTS` writes the traces into OUT; WEIGHTS is an .npz file.
"""

import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import explorer


class Net(nn.Module):
    def __init__(self, approximate="none", eps=1e-5):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.LayerNorm(16, eps)
        self.middle = nn.Linear(16, 16)
        self.last = nn.Linear(16, 3)
        self.approximate = approximate

    def forward(self, x):
        hidden = F.gelu(self.first(x), approximate=self.approximate)
        hidden = hidden + torch.tanh(self.middle(self.norm(hidden)))
        return self.last(hidden)


IN_FIGURES = {"values": 0, "start": 0}

STEPS = {
    "torch": (Net(), {}),
    "torch_tanh": (Net(approximate="tanh"), {}),
    "torch_eps": (Net(eps=1e-2), {}),
    "torch_in_figures": (Net(), IN_FIGURES),
    "torch_eps_in_figures": (Net(eps=1e-2), IN_FIGURES),
}
"""The net, and what of tensors is recorded."""


def main(out, given):
    for name, (net, limits) in STEPS.items():
        names = set(given) - {"x", "y"}
        net.load_state_dict({name: torch.from_numpy(given[name]) for name in names})
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
        with explorer.record(out / f"{name}.trace", step=1, **limits):
            loss = nn.CrossEntropyLoss()(
                net(torch.from_numpy(given["x"])), torch.from_numpy(given["y"])
            )
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main(Path(sys.argv[1]), np.load(sys.argv[2]))
