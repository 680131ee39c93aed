"""Higher orders in MindSpore: nested gradients, single operators, Jacobians and Hessians."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import ops

from explorer.engines.mindspore.answers import answer, derivative
from explorer.engines.mindspore.net import array_of, build, describe
from explorer.model.arrays import AnyArray
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.attempts import attempt_briefly
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
from explorer.topics.in_mindspore import numbers, set_style

# Nested gradients


def orders(ask: Ask) -> Found:
    """The nested gradients of a scenario's net, by input and order.

    Calls at the first input are timed, if asked for.
    """
    net = nested.started_net(ask, f"mindspore-{ask.options['style']}", describe)
    return nested.orders(ask, net, answer, prepared)


def prepared(request: CaseRequest) -> Callable[[], Any]:
    """A net built for one case, and the call of its gradient."""
    net = build(request.net)
    gradient = derivative(net.call, request.case, None)
    # A tensor is computed asynchronously (2.10): the call has ended when its numbers are read.
    return lambda: array_of(gradient(*net.arguments))


# Jacobians, products and Hessians


def transformations(ask: Ask) -> Found:
    """Jacobians, products, Hessians and batches of gradients of a field and an energy.

    Each is one that float64 has a reference for.
    """
    net = ask.options["net"]
    figures: dict[str, Any] = {}
    for dtype in transforms.DTYPES:
        set_style(ask.options["style"], ask.device)
        tensors = {}
        for name, array in transforms.arrays_of(net).items():
            tensors[name] = ms.Tensor(array, getattr(ms, dtype))
        field, energy = transforms.NETS[net](ops, tensors.pop("matrix"))
        calls = TRANSFORMS.calls(field, energy, **tensors)
        figures |= transforms.figures_of(net, dtype, calls, numbers)
    return Found(figures)


def jvp(function: Any, x: Any, v: Any) -> Any:
    """The product of a function's Jacobian at ``x`` with ``v``."""
    return ms.jvp(function, x, v)[1]


# ms.grad adds up what a function returns, so it is the slope as it stands.
TRANSFORMS = transforms.Transforms(ms, jvp, slope=ms.grad)


# Single operators, differentiated twice


def operators(ask: Ask) -> Found:
    """For each operator of a group: grad of grad, and the change of grad.

    Both along the same direction, that of ones.
    """
    figures = {}
    for name, x in OPERATORS[ask.options["group"]].items():
        function = FUNCTIONS[name]
        dtype = dtype_of(name)
        # The style comes first: ms.grad decides when it is called how it differentiates (2.10).
        set_style(ask.options["style"])
        first = on_arrays(ms.grad(function))
        change = attempt_briefly(change_along_ones, first, x, dtype)
        set_style(ask.options["style"])  # afresh, whatever the first derivative raised
        second = attempt_briefly(elements_at, on_arrays(ms.grad(ms.grad(function))), x, dtype)
        figures[name] = {"dtype": dtype, "change of first": change, "second": second}
    return Found(figures)


def on_arrays(function: Any) -> Callable[[AnyArray], AnyArray]:
    """A function of a tensor as one of an array."""

    def called(x: AnyArray) -> AnyArray:
        """The result as an array."""
        result: AnyArray = function(ms.Tensor(x)).asnumpy()
        return result

    return called


# The operators that MindSpore writes in its own way


def norm(x: Any) -> Any:
    """√Σx²."""
    return ops.norm(x)


def greatest(x: Any) -> Any:
    """The cube of the greatest element."""
    return x.max() ** 3


def cross_entropy(x: Any) -> Any:
    """The mean cross entropy of two samples with the logits x²."""
    return ops.cross_entropy(x * x, ms.Tensor([0, 1], ms.int32))


def convolution(x: Any) -> Any:
    """Σ of the cubes of each window's sum."""
    return (ops.conv2d(x, ops.ones((1, 1, 2, 2), x.dtype)) ** 3).sum()


def batch_norm(x: Any) -> Any:
    """Σ of the cubes of x² normalized over the batch."""
    mean, variance = ops.full((1,), 0.1, dtype=x.dtype), ops.full((1,), 2.0, dtype=x.dtype)
    weight, bias = ops.full((1,), 1.5, dtype=x.dtype), ops.full((1,), 0.25, dtype=x.dtype)
    return (ops.batch_norm(x * x, mean, variance, weight, bias, training=True) ** 3).sum()


def flash_attention(x: Any) -> Any:
    """Σ of the squares of attention by one kernel, x being query, key and value."""
    return (ops.flash_attention_score(x, x, x, 1, input_layout="BNSD") ** 2).sum()


FUNCTIONS = functions(
    ops, ops, (norm, greatest, cross_entropy, convolution, batch_norm, flash_attention)
)


# Second derivatives of small functions

A = ms.Tensor(MATRIX.astype(np.float32))


def product_with_vector(x: Any) -> Any:
    """|A·sin x|²."""
    return (ops.matmul(A, ops.sin(x)) ** 2).sum()


def product_with_column(x: Any) -> Any:
    """|A·sin x|², with sin x as a matrix of one column."""
    return (ops.matmul(A, ops.sin(x).reshape(2, 1)) ** 2).sum()


def nested_grad(function: Any, x: Any) -> Any:
    """The gradient of the gradient's sum."""
    return numbers(ms.grad(ms.grad(function))(x))


def forward_over_grad(function: Any, x: Any) -> Any:
    """The Hessian by forward mode over the gradient."""
    return numbers(ms.jacfwd(ms.grad(function))(x))


def second_derivatives(ask: Ask) -> Found:
    """What each call returns for each function, or what it raised."""
    calls = {NESTED: nested_grad, HESSIAN: forward_over_grad}
    figures: dict[str, Any] = {}
    for function in (cube_of_sum, broadcast, product_with_vector, product_with_column):
        figures[function.__name__] = {}
        for name in CALLS[function.__name__]:
            set_style(ask.options["style"], ask.device)  # afresh, whatever a call before raised
            x = ms.Tensor(POINT.astype(np.float32))
            figures[function.__name__][name] = attempt_briefly(calls[name], function, x)
    return Found(figures)
