"""Row 67: two groups of weights, at rates of 0.5 and 0.1, with momentum 0.9 for both."""

from typing import Any

from tests.independent.attempts import attempt


def closed_form() -> dict[str, Any]:
    """The settings as they were given."""
    return {"lr": [0.5, 0.1], "momentum": [0.9, 0.9]}


def in_torch() -> dict[str, Any]:
    """The names of the settings that PyTorch's groups tell."""
    import torch

    first, second = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    groups = [{"params": first, "lr": 0.5}, {"params": second}]
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    return {"settings": sorted(optimizer.param_groups[1])}


def in_mindspore_tape() -> dict[str, Any]:
    """The names that the experimental module's groups tell, and what nn raises when it is asked."""
    import mindspore as ms
    from mindspore import nn
    from mindspore.experimental import optim

    def groups_of(module: Any) -> Any:
        first = ms.Parameter(ms.Tensor([0.0]), name="first")
        second = ms.Parameter(ms.Tensor([0.0]), name="second")
        groups = [{"params": [first], "lr": 0.5}, {"params": [second]}]
        return module.SGD(groups, 0.1, momentum=0.9).param_groups

    return {"settings": sorted(groups_of(optim)[1]), "nn": attempt(groups_of, nn)}
