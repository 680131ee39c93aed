"""What MindSpore's optimizers say of the rates of their groups, by the kind of rate."""

from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.experimental import optim

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.schedules.arguments import END_RATE, GAMMA, RATE


def group_rates(ask: Ask) -> Found:
    """What can be asked about two groups, of which the first has its own rate.

    By the kind of that rate: ``get_lr_parameter`` of mindspore.nn, and ``get_lr`` after a step.
    ``param_groups`` of both modules.
    """
    set_style("tape", ask.device)
    dynamic = {
        "list": nn.exponential_decay_lr(RATE, GAMMA, 3, 1, 1),
        "Cell": nn.ExponentialDecayLR(RATE, GAMMA, 1),
    }
    kinds = {"number": RATE, **dynamic}
    return Found(
        {
            "get_lr_parameter": {
                kind: attempt(_rates_of_the_first_group, rate) for kind, rate in kinds.items()
            },
            "get_lr": {kind: attempt(_current_rates, rate) for kind, rate in dynamic.items()},
            "param_groups": {
                "nn": attempt(_told_by_group, nn.SGD),
                "experimental": attempt(_told_by_group, optim.SGD),
            },
        }
    )


def _groups(rate: Any) -> list[dict[str, Any]]:
    """Two groups of a weight each: the first with a rate of its own."""
    first = ms.Parameter(ms.Tensor([1.0]), name="first")
    second = ms.Parameter(ms.Tensor([1.0]), name="second")
    return [{"params": [first], "lr": rate}, {"params": [second]}]


def _rates_of_the_first_group(rate: Any) -> list[dict[str, Any]]:
    """What get_lr_parameter returns for the parameters of the first group, as kinds and shapes."""
    groups = _groups(rate)
    optimizer = nn.SGD(groups, END_RATE)
    described = []
    for told in optimizer.get_lr_parameter(groups[0]["params"]):
        if isinstance(told, ms.Parameter):
            described.append(
                {"kind": "Parameter", "shape": list(told.shape), "rates": numbers(told)}
            )
        else:
            described.append({"kind": "Cell" if isinstance(told, nn.Cell) else type(told).__name__})
    return described


def _current_rates(rate: Any) -> Any:
    """What get_lr returns after one step."""
    optimizer = nn.SGD(_groups(rate), END_RATE)
    optimizer((ms.Tensor([1.0]), ms.Tensor([1.0])))
    return numbers(optimizer.get_lr())


def _told_by_group(optimizer_class: Any) -> Any:
    """The rate of each group, as param_groups has it."""
    optimizer = optimizer_class(_groups(RATE), END_RATE)
    return [numbers(group["lr"]) for group in optimizer.param_groups]
