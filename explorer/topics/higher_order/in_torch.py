"""Higher orders in PyTorch: nested gradients, single operators, Jacobians and Hessians.

Nested gradients are computed on tape and graph, and by torch.func as a reference.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import func
from torch.nn import functional as F  # noqa: N812  # its usual name

from explorer.compare.results.comparison import BesideOracle
from explorer.engines import oracle
from explorer.engines.torch import graph as torch_graph
from explorer.engines.torch import tape as torch_tape
from explorer.engines.torch.net import build, describe, forward
from explorer.engines.torch.roots import Gradient
from explorer.engines.torch.tensors import array_of
from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.model.results import Leaf, OracleResult, Result
from explorer.topics.attempts import attempt, attempt_briefly, raised
from explorer.topics.higher_order import nested
from explorer.topics.higher_order import transformations as transforms
from explorer.topics.higher_order.operators import (
    OPERATORS,
    change_along_ones,
    dtype_of,
    elements_at,
    functions,
)
from explorer.topics.higher_order.small_hessians import (
    CALLS,
    HESSIAN,
    MATRIX,
    NESTED,
    POINT,
    broadcast,
    cube_of_sum,
)
from explorer.topics.in_torch import numbers

# Nested gradients


def orders(ask: Ask) -> Found:
    """The nested gradients of a scenario's net, by input and order.

    Calls at the first input are timed, if asked for.
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
    """The nested gradients in float64: by ``torch.func.grad`` alone, or on the tape.

    On the tape where the net is not for ``torch.func``.
    """
    return _by_input(ask, in_float64)


def checked_reference(ask: Ask) -> Found:
    """The nested gradients in float64 that central differences of the forward confirm.

    Where they confirm none, their own.
    """
    return _by_input(ask, confirmed)


def _by_input(ask: Ask, derivative: Callable[[CaseRequest], Any]) -> Found:
    # On the CPU, whatever the device looked at: not every device has float64.
    net = nested.started_net(Ask(ask.scenario), "torch-tape", describe)
    by_input: dict[str, dict[int, Any]] = {}
    for name, by_order in nested.cases(ask.scenario).items():
        by_input[name] = {}
        for order, case in by_order.items():
            by_input[name][order] = derivative(CaseRequest(net, case))
    return Found({"by input": by_input, "one tensor": nested.one_tensor(ask.scenario)})


def in_float64(request: CaseRequest) -> dict[str, Any]:
    """The figure of a nested gradient in float64, or of what it raised."""
    # No engine uses torch.func, which makes it a reference for all; but a net that calls
    # requires_grad_ or changes tensors in place is not for it (2.13).
    array = attempt_briefly(by_func, request)
    if raised(array):
        array = attempt_briefly(in_double, request)
    return array if raised(array) else nested.sampled(array)


UNCONFIRMED = {
    "raised": "NotImplementedError",
    "message": "central differences confirm no gradient in float64",
}
"""The figure of a nested gradient that nothing is known of."""


def confirmed(request: CaseRequest) -> dict[str, Any]:
    """The figure of a nested gradient that agrees with central differences, or of these.

    A tape in float64 is more accurate than they are, but derives as the engines do: from the
    backward that a function brings, for one.
    """
    estimated = oracle.estimate(request)
    if estimated.outcome != "ok":
        return UNCONFIRMED
    for derive in (by_func, in_double):
        array = attempt_briefly(derive, request)
        if not raised(array) and _agrees(array, estimated):
            return nested.sampled(array)
    (estimate,) = estimated.estimates
    if estimate.directions or estimate.obstacles:
        return UNCONFIRMED
    return {**nested.sampled(unpack(estimate.value)), "noise": estimate.noise}


def _agrees(array: AnyArray, estimated: OracleResult) -> bool:
    leaf = Leaf(estimated.estimates[0].name, pack(array))
    result = Result(outcome="ok", structure=leaf.name, leaves=(leaf,))
    return BesideOracle(result, estimated).agrees is True


def by_func(request: CaseRequest) -> AnyArray:
    """A nested gradient by ``torch.func.grad`` in float64."""
    net = build(request.net, torch.float64)
    call = net.call
    for _ in range(request.case.order):
        call = Gradient(call, request.case.positions[0])
    return array_of(call(*net.arguments))


def in_double(request: CaseRequest) -> AnyArray:
    """A nested gradient on the tape in float64."""
    gradients, _ = on_tape(request, torch.float64)
    return array_of(gradients[0])


# Jacobians, products and Hessians


def transformations(ask: Ask) -> Found:
    """Jacobians, products, Hessians and batches of gradients of a field and an energy.

    Each is one that float64 has a reference for.
    """
    net = ask.options["net"]
    figures: dict[str, Any] = {}
    for dtype in transforms.DTYPES:
        tensors = {}
        for name, array in transforms.arrays_of(net).items():
            dtyped = getattr(torch, dtype)
            tensors[name] = torch.tensor(array, dtype=dtyped, device=ask.device)
        field, energy = transforms.NETS[net](torch, tensors.pop("matrix"))
        calls = TRANSFORMS.calls(field, energy, **tensors)
        figures |= transforms.figures_of(net, dtype, calls, numbers)
    return Found(figures)


def jvp(function: Any, x: Any, v: Any) -> Any:
    """The product of a function's Jacobian at ``x`` with ``v``."""
    return func.jvp(function, (x,), (v,))[1]


def slope(function: Any) -> Any:
    """The gradient of the sum of a function's elements."""
    return func.grad(lambda x: function(x).sum())


TRANSFORMS = transforms.Transforms(func, jvp, slope)


# Single operators, differentiated twice


def operators(ask: Ask) -> Found:
    """For each operator of a group: grad of grad, and the change of grad.

    Both along the same direction, that of ones.
    """
    gradient_of = GRADIENTS[ask.options["style"]]
    figures = {}
    for name, x in OPERATORS[ask.options["group"]].items():
        dtype = dtype_of(name)
        first = gradient_of(FUNCTIONS[name])
        second = gradient_of(first)
        figures[name] = {
            "dtype": dtype,
            "change of first": attempt_briefly(change_along_ones, on_arrays(first), x, dtype),
            "second": attempt_briefly(elements_at, on_arrays(second), x, dtype),
        }
    return Found(figures)


def on_arrays(function: Callable[..., Any]) -> Callable[[AnyArray], AnyArray]:
    """A function of a tensor as one of an array."""

    def called(x: AnyArray) -> AnyArray:
        """The result as an array."""
        result: AnyArray = function(torch.tensor(x)).detach().numpy()
        return result

    return called


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the sum of ``function`` on the tape, kept differentiable."""

    def gradient(x: Any) -> Any:
        """The gradient at ``x``, which stays on the tape."""
        # The outer gradient has made x part of its graph: detaching it would lose the order.
        leaf = x if x.requires_grad else x.detach().requires_grad_()
        return torch.autograd.grad(function(leaf).sum(), leaf, create_graph=True)[0]

    return gradient


def functional(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the sum of ``function`` by ``torch.func``."""
    gradient: Callable[..., Any] = torch.func.grad(lambda x: function(x).sum())
    return gradient


GRADIENTS = {"tape": recorded, "func": functional}


# The operators that PyTorch writes in its own way


def norm(x: Any) -> Any:
    """√Σx²."""
    return torch.linalg.vector_norm(x)


def greatest(x: Any) -> Any:
    """The cube of the greatest element."""
    return x.amax() ** 3


def cross_entropy(x: Any) -> Any:
    """The mean cross entropy of two samples with the logits x²."""
    return F.cross_entropy(x * x, torch.tensor([0, 1]))


def convolution(x: Any) -> Any:
    """Σ of the cubes of each window's sum."""
    return (F.conv2d(x, torch.ones((1, 1, 2, 2), dtype=x.dtype)) ** 3).sum()


def batch_norm(x: Any) -> Any:
    """Σ of the cubes of x² normalized over the batch."""
    mean, variance = torch.tensor([0.1], dtype=x.dtype), torch.tensor([2.0], dtype=x.dtype)
    weight, bias = torch.tensor([1.5], dtype=x.dtype), torch.tensor([0.25], dtype=x.dtype)
    return (F.batch_norm(x * x, mean, variance, weight, bias, training=True) ** 3).sum()


def flash_attention(x: Any) -> Any:
    """Σ of the squares of attention by one kernel, x being query, key and value."""
    # The dispatcher chooses the flash kernel for these inputs on the CPU (2.13).
    return (F.scaled_dot_product_attention(x, x, x) ** 2).sum()


FUNCTIONS = functions(
    torch, F, (norm, greatest, cross_entropy, convolution, batch_norm, flash_attention)
)


# Second derivatives of small functions

A = torch.tensor(MATRIX, dtype=torch.float32)


def product_with_vector(x: Any) -> Any:
    """|A·sin x|²."""
    return (torch.matmul(A, torch.sin(x)) ** 2).sum()


def product_with_column(x: Any) -> Any:
    """|A·sin x|², with sin x as a matrix of one column."""
    return (torch.matmul(A, torch.sin(x).reshape(2, 1)) ** 2).sum()


def nested_grad(function: Any, x: Any) -> Any:
    """The gradient of the gradient's sum."""
    return numbers(func.grad(lambda x: func.grad(function)(x).sum())(x))


def forward_over_grad(function: Any, x: Any) -> Any:
    """The Hessian by forward mode over the gradient."""
    return numbers(func.jacfwd(func.grad(function))(x))


def second_derivatives(ask: Ask) -> Found:
    """What each call returns for each function, or what it raised."""
    calls = {NESTED: nested_grad, HESSIAN: forward_over_grad}
    x = torch.tensor(POINT, dtype=torch.float32)
    figures: dict[str, Any] = {}
    for function in (cube_of_sum, broadcast, product_with_vector, product_with_column):
        figures[function.__name__] = {}
        for name in CALLS[function.__name__]:
            figures[function.__name__][name] = attempt_briefly(calls[name], function, x)
    return Found(figures)
