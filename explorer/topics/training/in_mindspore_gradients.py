"""What MindSpore does to gradients between the backward pass and the update: clipping, and adding
up micro-batches.
"""

import inspect
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt
from explorer.topics.in_mindspore import numbers, set_style
from explorer.topics.training.given import MINDSPORE_NAMES, batches
from explorer.topics.training.in_mindspore_nets import fresh


def clipping(ask: Ask) -> Found:
    """Gradients clipped by their global norm, as the default has it and to given norms, and by
    value.
    """
    set_style(ask.options["style"], ask.device)

    def clipped(**settings: Any) -> Any:
        return numbers(ops.clip_by_global_norm(_gradients(ask), **settings))

    parameters = inspect.signature(ops.clip_by_global_norm).parameters
    before = _gradients(ask)
    ops.clip_by_global_norm(before)
    return Found(
        {
            "default": parameters["clip_norm"].default,
            "by default": attempt(clipped),
            "by norm": {
                str(norm): attempt(clipped, clip_norm=norm) for norm in ask.options["norms"]
            },
            "by value": numbers(
                ops.clip_by_value(_gradients(ask), -ask.options["value"], ask.options["value"])
            ),
            "given gradients afterwards": numbers(before),
        }
    )


def _gradients(ask: Ask) -> tuple[Any, ...]:
    return tuple(ms.Tensor(each, ms.float32) for each in ask.options["gradients"])


def accumulation(ask: Ask) -> Found:
    """The gradient of a batch of eight, and of its four micro-batches added up: with a mean as the
    loss, and with a sum.
    """
    return Found(
        {kind: _accumulated(ask, kind, count) for kind, count in (("mean", 4), ("sum", 4))}
    )


def _accumulated(ask: Ask, kind: str, count: int) -> dict[str, Any]:
    net = fresh(ask.options["style"], ask.device)
    net.norm.set_train(ask.options["norm_in_training"])
    loss_of = nn.MSELoss(reduction=kind)
    weights = net.trainable_params()

    def forward(x: Any, y: Any) -> Any:
        return loss_of(net(x), y)

    gradients_of = ms.grad(forward, None, weights)
    names = [MINDSPORE_NAMES.get(weight.name, weight.name) for weight in weights]
    ((pictures, targets),) = batches(1, 8)
    whole = gradients_of(ms.Tensor(pictures), ms.Tensor(targets))
    size = len(pictures) // count
    added = None
    for part in range(0, len(pictures), size):
        here = gradients_of(
            ms.Tensor(pictures[part : part + size]), ms.Tensor(targets[part : part + size])
        )
        added = (
            here
            if added is None
            else tuple(before + now for before, now in zip(added, here, strict=True))
        )
    assert added is not None
    divided = [each / count for each in added]
    return {
        "whole": dict(zip(names, numbers(whole), strict=True)),
        "added": dict(zip(names, numbers(added), strict=True)),
        "divided": dict(zip(names, numbers(divided), strict=True)),
    }
