"""Nested gradients in PyTorch: orders 1 to 5 of a scenario on tape and graph and by torch.func, and
Jacobians and Hessians.
"""

import time
from typing import Any

import torch
from torch import func

from explorer.engines.torch import graph as torch_graph
from explorer.engines.torch import tape as torch_tape
from explorer.engines.torch.net import array_of, build, describe, forward
from explorer.engines.torch.roots import Gradient
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.attempts import raised
from explorer.topics.higher_order import given
from explorer.topics.in_torch import numbers


def orders(ask: Ask) -> Found:
    """The nested gradients of a scenario's net, by input and order; times of calls at the first, if
    asked for.
    """
    net = given.asked(ask, ask.options["engine"], describe)
    figures: dict[str, Any] = {}
    timings: dict[str, float] = {}
    solve, answer = SOLVERS[net.engine]
    for name, by_order in given.cases(ask.scenario).items():
        if ask.options["timed"] and not figures:
            for order, case in by_order.items():
                for turn in ("first", "next"):
                    start = time.perf_counter()
                    if isinstance(given.tried(solve, CaseRequest(net, case)), dict):
                        break
                    timings[f"order {order}, {turn} call"] = time.perf_counter() - start
        last, size, figures[name] = 0, 0, {}
        for order, case in by_order.items():
            if size > ask.options["largest"]:
                figures[name][order] = given.beyond(last, size)
                continue
            figures[name][order] = given.derivative(answer(CaseRequest(net, case)))
            last, size = (
                order,
                joint_size(CaseRequest(net, case)) if net.engine == "torch-graph" else 0,
            )
    return Found({"engine": net.engine, "by input": figures}, timings)


def joint_size(request: CaseRequest) -> int:
    """The nodes of a joint graph that was derived for an answer; 0 where it could not be."""
    found = given.tried(
        lambda: len(torch_graph.shared(request, torch_graph.ready(request)).module.graph.nodes)
    )
    return 0 if raised(found) else int(found)


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


SOLVERS: dict[str, Any] = {
    "torch-tape": (on_tape, torch_tape.answer),
    "torch-graph": (in_graph, torch_graph.answer),
}


def reference(ask: Ask) -> Found:
    """The nested gradients in float64: by ``torch.func.grad`` alone, or on the tape where the net
    is not for ``torch.func``.
    """
    net, figures = given.asked(ask, "torch-tape", describe), {}
    for name, by_order in given.cases(ask.scenario).items():
        nested = {
            order: given.tried(by_func, CaseRequest(net, case)) for order, case in by_order.items()
        }
        figures[name] = {
            order: given.tried(in_double, CaseRequest(net, by_order[order]))
            if raised(figure)
            else figure
            for order, figure in nested.items()
        }
    return Found({"by input": figures})


def by_func(request: CaseRequest) -> dict[str, Any]:
    """A nested gradient by ``torch.func.grad`` in float64."""
    net = build(request.net, torch.float64)
    call = net.call
    for _ in range(request.case.order):
        call = Gradient(call, request.case.positions[0])
    return given.sampled(array_of(call(*net.arguments)))


def in_double(request: CaseRequest) -> dict[str, Any]:
    """A nested gradient on the tape in float64."""
    gradients, _ = on_tape(request, torch.float64)
    return given.sampled(array_of(gradients[0]))


def transformations(ask: Ask) -> Found:
    """Jacobians, products, Hessians and batches of gradients of a field and an energy, each as the
    closed forms have it.
    """
    figures, net = {}, ask.options["net"]
    for dtype, ending in ((torch.float32, ""), (torch.float64, ", float64")):
        arrays = (given.MATRIX, given.POINT, given.DIRECTION, given.BATCH)
        matrix, *rest = (torch.tensor(each, dtype=dtype, device=ask.device) for each in arrays)
        made = _made(*NETS[net](matrix), *rest)
        for what in given.asked_of(net, double=bool(ending)):
            figures[f"{what}, {net}{ending}"] = given.tried(made[what])
    return Found(figures)


def by_element(_: Any) -> Any:
    """eˣ·sin x, and its sum."""

    def field(x: Any) -> Any:
        return x.exp() * x.sin()

    def energy(x: Any) -> Any:
        return (x.exp() * x.sin()).sum()

    return field, energy


def by_matrix(matrix: Any) -> Any:
    """A·sin x, and the sum of its squares."""

    def field(x: Any) -> Any:
        return matrix @ x.sin()

    def energy(x: Any) -> Any:
        return ((matrix @ x.sin()) ** 2).sum()

    return field, energy


NETS = {given.BY_ELEMENT: by_element, given.BY_MATRIX: by_matrix}


def _made(field: Any, energy: Any, x: Any, v: Any, batch: Any) -> dict[str, Any]:
    """Each transformation in the words of ``torch.func``."""

    def total(x: Any) -> Any:
        return func.grad(energy)(x).sum()

    return {
        "jacrev": lambda: numbers(func.jacrev(field)(x)),
        "jacfwd": lambda: numbers(func.jacfwd(field)(x)),
        "vjp": lambda: numbers(func.vjp(field, x)[1](v)[0]),
        "jvp": lambda: numbers(func.jvp(field, (x,), (v,))[1]),
        "vmap of grad": lambda: numbers(func.vmap(func.grad(energy))(batch)),
        "Hessian": lambda: numbers(func.hessian(energy)(x)),
        "Hessian, jacfwd of grad": lambda: numbers(func.jacfwd(func.grad(energy))(x)),
        "Hessian, jacrev of grad": lambda: numbers(func.jacrev(func.grad(energy))(x)),
        "Hessian, jacfwd of jacrev": lambda: numbers(func.jacfwd(func.jacrev(energy))(x)),
        "Hessian times vector, jvp of grad": lambda: numbers(
            func.jvp(func.grad(energy), (x,), (v,))[1]
        ),
        "Hessian times vector, vjp of grad": lambda: numbers(
            func.vjp(func.grad(energy), x)[1](v)[0]
        ),
        "vmap of grad of grad": lambda: numbers(func.vmap(func.grad(total))(batch)),
    }
