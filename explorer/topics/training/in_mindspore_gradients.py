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
from explorer.topics.training.in_mindspore_nets import fresh_net, torch_name
from explorer.topics.training.inputs import BATCH, MICRO_BATCHES, batches


def clipping(ask: Ask) -> Found:
    """Gradients clipped by their global norm, as the default has it and to given norms, and by
    value.
    """
    set_style(ask.options["style"], ask.device)

    def gradients() -> tuple[Any, ...]:
        return tuple(ms.Tensor(values, ms.float32) for values in ask.options["gradients"])

    def clipped(**settings: Any) -> Any:
        return numbers(ops.clip_by_global_norm(gradients(), **settings))

    parameters = inspect.signature(ops.clip_by_global_norm).parameters
    limit = ask.options["value"]
    given = gradients()  # clipped gradients are returned: these must stay as they are
    ops.clip_by_global_norm(given)
    return Found(
        {
            "default": parameters["clip_norm"].default,
            "by default": attempt(clipped),
            "by norm": {
                str(norm): attempt(clipped, clip_norm=norm) for norm in ask.options["norms"]
            },
            "by value": numbers(ops.clip_by_value(gradients(), -limit, limit)),
            "given gradients afterwards": numbers(given),
        }
    )


def accumulation(ask: Ask) -> Found:
    """The gradient of a batch of eight, and of its four micro-batches added up: with a mean as the
    loss, and with a sum.
    """
    return Found({reduction: _accumulated(ask, reduction) for reduction in ("mean", "sum")})


def _accumulated(ask: Ask, reduction: str) -> dict[str, Any]:
    net = fresh_net(ask.options["style"], ask.device)
    net.norm.set_train(ask.options["norm_in_training"])
    loss_of = nn.MSELoss(reduction=reduction)
    weights = net.trainable_params()

    def forward(x: Any, y: Any) -> Any:
        return loss_of(net(x), y)

    gradients_of = ms.grad(forward, None, weights)
    ((pictures, targets),) = batches(1, BATCH)
    whole = gradients_of(ms.Tensor(pictures), ms.Tensor(targets))

    # MindSpore has no .grad that a backward pass adds to: who accumulates adds up.
    size = BATCH // MICRO_BATCHES
    added: list[Any] = []
    for first in range(0, BATCH, size):
        part = slice(first, first + size)
        gradients = gradients_of(ms.Tensor(pictures[part]), ms.Tensor(targets[part]))
        if not added:
            added = list(gradients)
            continue
        for index, gradient in enumerate(gradients):
            added[index] = added[index] + gradient
    divided = [gradient / MICRO_BATCHES for gradient in added]

    names = [torch_name(weight) for weight in weights]
    return {
        "whole": dict(zip(names, numbers(whole), strict=True)),
        "added": dict(zip(names, numbers(added), strict=True)),
        "divided": dict(zip(names, numbers(divided), strict=True)),
    }
