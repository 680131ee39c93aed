"""Row 35: what the guide pairs, on a net of its shape: a block of two layers, and a dense one."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """The names by named_children and of the parameters, and the children with one added."""
    from torch import nn

    net = nn.Module()
    net.block = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    net.fc = nn.Linear(2, 2)
    figures = {
        "named_children": [name for name, _ in net.named_children()],
        "parameters": [name for name, _ in net.named_parameters()],
    }
    net.add_module("head", nn.Linear(1, 1))
    return {**figures, "with another": [name for name, _ in net.named_children()]}


def in_mindspore_tape() -> dict[str, Any]:
    """The names by cells_and_names and of the parameters, the children with one added.

    And those of PyTorch's methods that a Cell lacks.
    """
    from mindspore import nn

    net = nn.Cell()
    net.block = nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2))
    net.fc = nn.Dense(2, 2)
    wanted = ("named_children", "add_module", "named_parameters")
    figures = {
        "cells_and_names": [name for name, _ in net.cells_and_names()],
        "get_parameters": [parameter.name for parameter in net.get_parameters()],
        "missing": [name for name in wanted if not hasattr(net, name)],
    }
    net.insert_child_to_cell("head", nn.Dense(1, 1))
    return {**figures, "with another": list(net.name_cells())}
