"""Row 34: how many parameters a net finds in a list of two dense layers with biases."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """In a plain list, a ModuleList, a Sequential."""
    from torch import nn

    class Net(nn.Module):  # type: ignore[misc]  # not checked, see pyproject.toml
        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.layers = layers

    pair = [nn.Linear(2, 2), nn.Linear(2, 2)]
    kinds = {"list": pair, "ModuleList": nn.ModuleList(pair), "Sequential": nn.Sequential(*pair)}
    return {name: len(list(Net(layers).parameters())) for name, layers in kinds.items()}


def in_mindspore_tape() -> dict[str, Any]:
    """In a plain list, a CellList, a SequentialCell."""
    from mindspore import nn

    class Net(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.layers = layers

    pair = [nn.Dense(2, 2), nn.Dense(2, 2)]
    cells = nn.SequentialCell(pair)
    kinds = {"list": pair, "CellList": nn.CellList(pair), "SequentialCell": cells}
    return {name: len(list(Net(layers).get_parameters())) for name, layers in kinds.items()}
