"""Row 93: optimizers that refuse two groups with rates of their own."""

from typing import Any


def in_torch() -> dict[str, Any]:
    """What LBFGS and SGD make of two groups."""
    import torch

    def groups() -> list[dict[str, Any]]:
        return [{"params": [torch.ones(1, requires_grad=True)], "lr": rate} for rate in (0.1, 0.2)]

    try:
        torch.optim.LBFGS(groups())
        refused = ""
    except ValueError as error:
        refused = type(error).__name__
    return {"LBFGS": refused, "SGD": len(torch.optim.SGD(groups()).param_groups)}


def in_mindspore_tape() -> dict[str, Any]:
    """What FTRL and SGD make of two groups."""
    import mindspore as ms
    from mindspore import nn

    def groups() -> list[dict[str, Any]]:
        made = []
        for name, rate in (("first", 0.1), ("second", 0.2)):
            weight = ms.Parameter(ms.Tensor([1.0]), name=name)
            made.append({"params": [weight], "lr": rate})
        return made

    try:
        nn.FTRL(groups())
        refused = ""
    except ValueError as error:
        refused = type(error).__name__
    return {"FTRL": refused, "SGD": len(nn.SGD(groups()).learning_rate)}
