"""Row 74: a factor of 2 and an addend of 1, kept in a container, at an input of 3."""

from typing import Any


def closed_form() -> dict[str, Any]:
    """The value, and its gradients with respect to the factor and the addend."""
    return {"value": 2.0 * 3 + 1, "gradients": [[3.0], [1.0]]}


def in_torch() -> dict[str, Any]:
    """How many parameters a Module has of each container."""
    import torch
    from torch import nn

    figures = {}
    for name, kind in {"list": list, "tuple": tuple, "ParameterList": nn.ParameterList}.items():
        module = nn.Module()
        module.kept = kind(nn.Parameter(torch.tensor([value])) for value in (2.0, 1.0))
        figures[name] = [parameter.tolist() for parameter in module.parameters()]
    return figures


def in_mindspore_tape() -> dict[str, Any]:
    """How many parameters a Cell has of each container, by their names."""
    import mindspore as ms
    from mindspore import nn

    figures = {}
    for kind in (list, tuple, ms.ParameterTuple):
        cell = nn.Cell()
        factor = ms.Parameter(ms.Tensor([2.0]), name="factor")
        cell.kept = kind((factor, ms.Parameter(ms.Tensor([1.0]), name="addend")))
        figures[kind.__name__] = [parameter.name for parameter in cell.get_parameters()]
    return figures
