"""Row 35: what the guide pairs, on a net of its shape: a block of two layers, and a dense one."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """The names by named_children."""
    from torch import nn

    net = nn.Module()
    net.block = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())
    net.fc = nn.Linear(2, 2)
    return {"named_children": [name for name, _ in net.named_children()]}


def in_mindspore_tape() -> dict[str, Any]:
    """The names by cells_and_names, and those of PyTorch's methods that a Cell lacks."""
    from mindspore import nn

    net = nn.Cell()
    net.block = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.ReLU())
    net.fc = nn.Dense(2, 2)
    wanted = ("named_children", "add_module", "named_parameters")
    return {
        "cells_and_names": [name for name, _ in net.cells_and_names()],
        "missing": [name for name in wanted if not hasattr(net, name)],
    }
