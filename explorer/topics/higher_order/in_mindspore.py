"""Nested gradients in MindSpore: orders 1 to 5 of a scenario, and Jacobians, Hessians and products,
in both styles.
"""

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore import ops

from explorer.engines.mindspore.answers import answer, derivative
from explorer.engines.mindspore.net import array_of, build, describe
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.higher_order import nested
from explorer.topics.higher_order.transformations import (
    ARRAYS,
    DTYPES,
    NETS,
    Transforms,
    figures_of,
)
from explorer.topics.in_mindspore import numbers, set_style


def orders(ask: Ask) -> Found:
    """The nested gradients of a scenario's net, by input and order; times of calls at the first, if
    asked for.
    """
    net = nested.started_net(ask, f"mindspore-{ask.options['style']}", describe)
    return nested.orders(ask, net, answer, prepared)


def prepared(request: CaseRequest) -> Callable[[], Any]:
    """A net built for one case, and the call of its gradient."""
    net = build(request.net)
    gradient = derivative(net.call, request.case, None)
    # A tensor is computed asynchronously (2.10): the call has ended when its numbers are read.
    return lambda: array_of(gradient(*net.arguments))


def transformations(ask: Ask) -> Found:
    """Jacobians, products, Hessians and batches of gradients of a field and an energy, each as the
    closed forms have it.
    """
    net = ask.options["net"]
    figures: dict[str, Any] = {}
    for dtype in DTYPES:
        set_style(ask.options["style"], ask.device)
        matrix, x, v, batch = (ms.Tensor(array, getattr(ms, dtype)) for array in ARRAYS)
        field, energy = NETS[net](ops, matrix)
        figures |= figures_of(net, dtype, TRANSFORMS.calls(field, energy, x, v, batch), numbers)
    return Found(figures)


def jvp(function: Any, x: Any, v: Any) -> Any:
    """The product of a function's Jacobian at ``x`` with ``v``."""
    return ms.jvp(function, x, v)[1]


TRANSFORMS = Transforms(ms, jvp, slope=ms.grad)  # ms.grad adds up what a function returns
