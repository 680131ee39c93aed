"""Second derivatives of single operators in MindSpore, each beside the central difference of its
own first derivative.
"""

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore import ops

from explorer.model.arrays import AnyArray
from explorer.model.measurement import Ask, Found
from explorer.topics.attempts import attempt_briefly
from explorer.topics.higher_order.operators import (
    OPERATORS,
    change_along_ones,
    dtype_of,
    elements_at,
    functions,
)
from explorer.topics.in_mindspore import set_style


def operators(ask: Ask) -> Found:
    """For each operator of a group: grad of grad, and the change of grad along the same direction,
    that of ones.
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
