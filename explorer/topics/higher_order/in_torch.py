"""Nested gradients in PyTorch: orders 1 to 5 of a scenario on tape and graph and by torch.func, and
Jacobians and Hessians.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import func

from explorer.engines.torch import graph as torch_graph
from explorer.engines.torch import tape as torch_tape
from explorer.engines.torch.net import array_of, build, describe, forward
from explorer.engines.torch.roots import Gradient
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.attempts import attempt, attempt_briefly, raised
from explorer.topics.higher_order import nested
from explorer.topics.higher_order.transformations import (
    ARRAYS,
    DTYPES,
    NETS,
    Transforms,
    figures_of,
)
from explorer.topics.in_torch import numbers


def orders(ask: Ask) -> Found:
    """The nested gradients of a scenario's net, by input and order; times of calls at the first, if
    asked for.
    """
    style = ask.options["style"]
    net = nested.started_net(ask, f"torch-{style}", describe)
    if style == "tape":
        return nested.orders(ask, net, torch_tape.answer, tape_run)
    return nested.orders(ask, net, torch_graph.answer, graph_run, joint_size)


def joint_size(request: CaseRequest) -> int:
    """The nodes of a joint graph that was derived for an answer; 0 where it could not be."""

    def size() -> int:
        """The nodes, or whatever deriving the graph raises."""
        return len(torch_graph.shared(request, torch_graph.ready(request)).module.graph.nodes)

    nodes = attempt(size)
    return 0 if raised(nodes) else int(nodes)


def tape_run(request: CaseRequest) -> Callable[[], Any]:
    """The call of one run on the tape; nothing is prepared for it."""
    return partial(on_tape, request)


def graph_run(request: CaseRequest) -> Callable[[], Any]:
    """The call of one run of the joint graph, the first of which derives it."""
    return partial(in_graph, request)


def on_tape(request: CaseRequest, dtype: torch.dtype | None = None) -> Any:
    """One run of the forward and its nested backward."""
    net = build(request.net, dtype)
    for leaf in net.leaves(request.case).values():
        leaf.requires_grad_()
    roots = torch_tape.differentiated(net, request.case, forward(net))
    return torch_tape.differentiate(net, request.case, roots)


def in_graph(request: CaseRequest) -> Any:
    """One run of the joint graph, which is derived the first time."""
    net = torch_graph.ready(request)
    return torch_graph.run(torch_graph.shared(request, net), net, request.case)


def reference(ask: Ask) -> Found:
    """The nested gradients in float64: by ``torch.func.grad`` alone, or on the tape where the net
    is not for ``torch.func``.
    """
    # On the CPU, whatever the device looked at: not every device has float64.
    net = nested.started_net(Ask(ask.scenario), "torch-tape", describe)
    by_input: dict[str, dict[int, Any]] = {}
    for name, by_order in nested.cases(ask.scenario).items():
        by_input[name] = {}
        for order, case in by_order.items():
            request = CaseRequest(net, case)
            # No engine uses torch.func, which makes it a reference for all; but a net that calls
            # requires_grad_ or changes tensors in place is not for it (2.13).
            figure = attempt_briefly(by_func, request)
            if raised(figure):
                figure = attempt_briefly(in_double, request)
            by_input[name][order] = figure
    return Found({"by input": by_input})


def by_func(request: CaseRequest) -> dict[str, Any]:
    """A nested gradient by ``torch.func.grad`` in float64."""
    net = build(request.net, torch.float64)
    call = net.call
    for _ in range(request.case.order):
        call = Gradient(call, request.case.positions[0])
    return nested.sampled(array_of(call(*net.arguments)))


def in_double(request: CaseRequest) -> dict[str, Any]:
    """A nested gradient on the tape in float64."""
    gradients, _ = on_tape(request, torch.float64)
    return nested.sampled(array_of(gradients[0]))


def transformations(ask: Ask) -> Found:
    """Jacobians, products, Hessians and batches of gradients of a field and an energy, each as the
    closed forms have it.
    """
    net = ask.options["net"]
    figures: dict[str, Any] = {}
    for dtype in DTYPES:
        matrix, x, v, batch = (
            torch.tensor(array, dtype=getattr(torch, dtype), device=ask.device) for array in ARRAYS
        )
        field, energy = NETS[net](torch, matrix)
        figures |= figures_of(net, dtype, TRANSFORMS.calls(field, energy, x, v, batch), numbers)
    return Found(figures)


def jvp(function: Any, x: Any, v: Any) -> Any:
    """The product of a function's Jacobian at ``x`` with ``v``."""
    return func.jvp(function, (x,), (v,))[1]


def slope(function: Any) -> Any:
    """The gradient of the sum of a function's elements."""
    return func.grad(lambda x: function(x).sum())


TRANSFORMS = Transforms(func, jvp, slope)
