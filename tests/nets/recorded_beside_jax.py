"""The trainings of recorded_jax_trainings.py in PyTorch, and a trace of Adam's second step.

``python recorded_beside_jax.py FOLDER WEIGHTS.npz`` writes a training by each rule into the folder.
"""

import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
from torch import nn

import explorer

FOLDER, GIVEN = Path(sys.argv[1]), np.load(sys.argv[2])

RULES = {
    "adamw": lambda weights: torch.optim.AdamW(weights, 1e-2, weight_decay=0.1),
    "momentum": lambda weights: torch.optim.SGD(weights, 1e-2, momentum=0.9),
    "clipped": lambda weights: torch.optim.SGD(weights, 0.1),
    "two_passes": lambda weights: torch.optim.SGD(weights, 0.1),
}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 16), nn.Linear(16, 3)
        self.load_state_dict({name: torch.from_numpy(GIVEN[name]) for name in self.state_dict()})

    def forward(self, x):
        return self.last(nn.functional.gelu(self.first(x)))


def train(name):
    net = Net()
    optimizer = RULES[name](net.parameters())
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    steps = explorer.recorder(training=True, model=net, out=FOLDER / f"{name}.training")
    for step in range(4):
        x = torch.from_numpy(GIVEN["x"] * (1 + step))
        y = torch.from_numpy(np.roll(GIVEN["y"], step))
        halves = [slice(4), slice(4, 8)] if name == "two_passes" else [slice(8)]
        with steps.step():
            optimizer.zero_grad()
            for half in halves:
                nn.functional.cross_entropy(net(x[half]), y[half]).backward()
            if name == "clipped":
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
        if name == "clipped":
            schedule.step()


def record_a_step():
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    x, y = torch.from_numpy(GIVEN["x"]), torch.from_numpy(GIVEN["y"])
    for step in range(2):
        with explorer.record(FOLDER / "adam.trace") if step else nullcontext():
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()


if __name__ == "__main__":
    for rule in RULES:
        train(rule)
    record_a_step()
