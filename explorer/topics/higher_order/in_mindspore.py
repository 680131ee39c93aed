"""Nested gradients in MindSpore: orders 1 to 5 of a scenario, and Jacobians, Hessians and products,
in both styles.
"""

import time
from typing import Any

import mindspore as ms
from mindspore import ops

from explorer.engines.mindspore.answers import answer, derivative
from explorer.engines.mindspore.net import array_of, build, describe
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.higher_order import given
from explorer.topics.in_mindspore import numbers, set_style


def orders(ask: Ask) -> Found:
    """The nested gradients of a scenario's net, by input and order; times of calls at the first, if
    asked for.
    """
    net = given.asked(ask, ask.options["engine"], describe)
    figures: dict[str, Any] = {}
    timings: dict[str, float] = {}
    for name, by_order in given.cases(ask.scenario).items():
        if ask.options["timed"] and not figures:
            for order, case in by_order.items():
                built = build(net)
                call = derivative(built.call, case, None)
                for turn in ("first", "next"):
                    start = time.perf_counter()
                    if isinstance(
                        given.tried(
                            lambda call=call, built=built: array_of(call(*built.arguments))
                        ),
                        dict,
                    ):
                        break
                    timings[f"order {order}, {turn} call"] = time.perf_counter() - start
        figures[name] = {
            order: given.derivative(answer(CaseRequest(net, case)))
            for order, case in by_order.items()
        }
    return Found({"engine": net.engine, "by input": figures}, timings)


def transformations(ask: Ask) -> Found:
    """Jacobians, products, Hessians and batches of gradients of a field and an energy, each as the
    closed forms have it.
    """
    figures, net = {}, ask.options["net"]
    for dtype, ending in ((ms.float32, ""), (ms.float64, ", float64")):
        set_style(ask.options["style"], ask.device)
        arrays = (given.MATRIX, given.POINT, given.DIRECTION, given.BATCH)
        matrix, *rest = (ms.Tensor(each, dtype) for each in arrays)
        made = _made(*NETS[net](matrix), *rest)
        for what in given.asked_of(net, double=bool(ending)):
            figures[f"{what}, {net}{ending}"] = given.tried(made[what])
    return Found(figures)


def by_element(_: Any) -> Any:
    """eˣ·sin x, and its sum."""

    def field(x: Any) -> Any:
        return ops.exp(x) * ops.sin(x)

    def energy(x: Any) -> Any:
        return (ops.exp(x) * ops.sin(x)).sum()

    return field, energy


def by_matrix(matrix: Any) -> Any:
    """A·sin x, and the sum of its squares."""

    def field(x: Any) -> Any:
        return ops.matmul(matrix, ops.sin(x))

    def energy(x: Any) -> Any:
        return (ops.matmul(matrix, ops.sin(x)) ** 2).sum()

    return field, energy


NETS = {given.BY_ELEMENT: by_element, given.BY_MATRIX: by_matrix}


def _made(field: Any, energy: Any, x: Any, v: Any, batch: Any) -> dict[str, Any]:
    """Each transformation in MindSpore's words; there is no ``hessian`` (2.10.0)."""
    return {
        "jacrev": lambda: numbers(ms.jacrev(field)(x)),
        "jacfwd": lambda: numbers(ms.jacfwd(field)(x)),
        "vjp": lambda: numbers(ms.vjp(field, x)[1](v)[0]),
        "jvp": lambda: numbers(ms.jvp(field, x, v)[1]),
        "vmap of grad": lambda: numbers(ms.vmap(ms.grad(energy))(batch)),
        "Hessian": lambda: numbers(ms.hessian(energy)(x)),
        "Hessian, jacfwd of grad": lambda: numbers(ms.jacfwd(ms.grad(energy))(x)),
        "Hessian, jacrev of grad": lambda: numbers(ms.jacrev(ms.grad(energy))(x)),
        "Hessian, jacfwd of jacrev": lambda: numbers(ms.jacfwd(ms.jacrev(energy))(x)),
        "Hessian times vector, jvp of grad": lambda: numbers(ms.jvp(ms.grad(energy), x, v)[1]),
        "Hessian times vector, vjp of grad": lambda: numbers(ms.vjp(ms.grad(energy), x)[1](v)[0]),
        "vmap of grad of grad": lambda: numbers(ms.vmap(ms.grad(ms.grad(energy)))(batch)),
    }
