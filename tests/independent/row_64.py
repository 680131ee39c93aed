"""Row 64: what MindSpore's own optimizers leave after five gradients, by their formulas."""

from typing import Any

import numpy as np

from tests.independent.attempts import attempt
from tests.independent.given_gradients import RATE, START, adam, gradients, weights_after


def closed_form() -> dict[str, Any]:
    """Proximal Adagrad without penalties is Adagrad, and Adam computes the same on another device."""
    return {
        "ProximalAdagrad": weights_after(_adagrad),
        "AdamOffload": weights_after(adam),
        "FTRL": _followed_leader(),
    }


def _adagrad(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    state["sum"] = state.get("sum", 0) + gradient**2
    return gradient / np.sqrt(state["sum"])


def _followed_leader() -> list[Any]:
    """Follow the regularised leader, as in MindSpore's document, without penalties."""
    weight, sums, linear = np.array(START), np.full(3, 0.1), np.zeros(3)
    weights = []
    for gradient in gradients():
        moved = sums + gradient.astype(float) ** 2
        linear = linear + gradient - (np.sqrt(moved) - np.sqrt(sums)) / RATE * weight
        sums = moved
        weight = -linear * RATE / np.sqrt(sums)
        weights.append(weight.tolist())
    return weights


def in_torch() -> dict[str, Any]:
    """The names of its optimizers, and the weights under two that are MindSpore's by another name."""
    import torch

    optimizers = {"Adagrad": torch.optim.Adagrad, "Adam": torch.optim.Adam}
    names = [name for name in dir(torch.optim) if _is_optimizer(getattr(torch.optim, name))]
    figures: dict[str, Any] = {"names": names}
    for name, kind in optimizers.items():
        weight = torch.tensor(START, requires_grad=True)
        optimizer = kind([weight], lr=RATE)
        figures[name] = []
        for gradient in gradients():
            weight.grad = torch.tensor(gradient)
            optimizer.step()
            figures[name].append(weight.tolist())
    return figures


def _is_optimizer(value: Any) -> bool:
    import torch

    return isinstance(value, type) and issubclass(value, torch.optim.Optimizer)


def in_mindspore_tape() -> dict[str, Any]:
    """What stands in the way of the misprinted name, and of those that the CPU has no kernels for."""
    return {
        "ProximalAadagrad": attempt(_misprinted),
        "Lamb": attempt(_lamb),
        "thor": attempt(_thor),
    }


def _misprinted() -> Any:
    from mindspore import nn

    return nn.ProximalAadagrad


def _lamb() -> str:
    import mindspore as ms
    from mindspore import nn

    weight = ms.Parameter(ms.Tensor(START), name="weight")
    nn.Lamb([weight], RATE)((ms.Tensor(gradients()[0]),))
    return "runs"


def _thor() -> str:
    import mindspore as ms
    from mindspore import nn

    net = nn.SequentialCell(nn.Dense(3, 3), nn.Dense(3, 1))
    optimizer = nn.thor(net, ms.Tensor([RATE]), ms.Tensor([0.03]), 0.9)
    optimizer(tuple(ms.Tensor(parameter.asnumpy()) for parameter in optimizer.parameters))
    return "runs"
