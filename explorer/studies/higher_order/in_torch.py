"""Nested gradients in PyTorch: orders 1 to 5 of a scenario on tape and graph and by torch.func, and Jacobians and Hessians."""

import time
from typing import Any

import torch
from torch import func

from explorer.cases import GradCase
from explorer.engines import torch_graph, torch_tape
from explorer.engines.torch_net import array_of, build, describe, forward
from explorer.engines.torch_roots import Gradient
from explorer.measuring import Ask, Found
from explorer.records import AnswerRequest
from explorer.studies.higher_order import given
from explorer.studies.in_torch import listed


def orders(ask: Ask) -> Found:
    """The nested gradients of a scenario's net, by input and order; times of calls at the first, if asked for."""
    net = given.asked(ask, ask.options["engine"], describe)
    figures: dict[str, Any] = {}
    timings: dict[str, float] = {}
    solve, answer = SOLVERS[net.engine]
    for name, by_order in given.cases(ask.scenario).items():
        if ask.options["timed"] and not figures:
            for order, case in by_order.items():
                for turn in ("first", "next"):
                    start = time.perf_counter()
                    if isinstance(given.tried(solve, AnswerRequest(net, case)), dict):
                        break
                    timings[f"order {order}, {turn} call"] = time.perf_counter() - start
        figures[name] = {order: given.derivative(answer(AnswerRequest(net, case))) for order, case in by_order.items()}
    return Found({"engine": net.engine, "by input": figures}, timings)


def on_tape(request: AnswerRequest) -> Any:
    """One run of the forward and its nested backward."""
    net = build(request.net)
    for leaf in net.leaves(request.case).values():
        leaf.requires_grad_()
    roots = torch_tape.differentiated(net, request.case, forward(net))
    return torch_tape.differentiate(net, request.case, roots)


def in_graph(request: AnswerRequest) -> Any:
    """One run of the joint graph, which is derived the first time."""
    net = torch_graph.ready(request)
    return torch_graph.run(torch_graph.shared(request, net), net, request.case)


SOLVERS: dict[str, Any] = {"torch-tape": (on_tape, torch_tape.answer), "torch-graph": (in_graph, torch_graph.answer)}


def reference(ask: Ask) -> Found:
    """The nested gradients by ``torch.func.grad`` alone, with the net and its inputs in float64."""
    net = build(given.asked(ask, "torch-tape", describe), torch.float64)
    figures: dict[str, Any] = {}
    for name, by_order in given.cases(ask.scenario).items():
        figures[name] = {order: given.tried(_nested, net.call, case, net.arguments) for order, case in by_order.items()}
    return Found({"by input": figures})


def _nested(call: Any, case: GradCase, arguments: tuple[torch.Tensor, ...]) -> dict[str, Any]:
    for _ in range(case.order):
        call = Gradient(call, case.positions[0])
    return given.sampled(array_of(call(*arguments)))


def transformations(ask: Ask) -> Found:
    """Jacobians, products, Hessians and batches of gradients of a field and an energy, each as the closed forms have it."""
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
        "jacrev": lambda: listed(func.jacrev(field)(x)),
        "jacfwd": lambda: listed(func.jacfwd(field)(x)),
        "vjp": lambda: listed(func.vjp(field, x)[1](v)[0]),
        "jvp": lambda: listed(func.jvp(field, (x,), (v,))[1]),
        "vmap of grad": lambda: listed(func.vmap(func.grad(energy))(batch)),
        "Hessian": lambda: listed(func.hessian(energy)(x)),
        "Hessian, jacfwd of grad": lambda: listed(func.jacfwd(func.grad(energy))(x)),
        "Hessian, jacrev of grad": lambda: listed(func.jacrev(func.grad(energy))(x)),
        "Hessian, jacfwd of jacrev": lambda: listed(func.jacfwd(func.jacrev(energy))(x)),
        "Hessian times vector, jvp of grad": lambda: listed(func.jvp(func.grad(energy), (x,), (v,))[1]),
        "Hessian times vector, vjp of grad": lambda: listed(func.vjp(func.grad(energy), x)[1](v)[0]),
        "vmap of grad of grad": lambda: listed(func.vmap(func.grad(total))(batch)),
    }
