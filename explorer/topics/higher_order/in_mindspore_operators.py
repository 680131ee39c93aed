"""Second derivatives of single operators in MindSpore, each beside the central difference of its
own first derivative.
"""

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import ops

from explorer.model.arrays import AnyArray
from explorer.model.measurement import Ask, Found
from explorer.topics.higher_order import given
from explorer.topics.in_mindspore import set_style


def operators(ask: Ask) -> Found:
    """For each operator of a group: grad of grad, and the change of grad along the same direction,
    that of ones.
    """
    figures = {}
    for name, x in given.OPERATORS[ask.options["group"]].items():
        set_style(ask.options["style"], ask.device)
        asked = (FUNCTIONS[name], x, given.dtype_of(name))
        changes = given.tried(change, *asked)
        set_style(ask.options["style"], ask.device)  # afresh, whatever the first derivative raised
        figures[name] = {
            "dtype": asked[2],
            "change of first": changes,
            "second": given.tried(second, *asked),
        }
    return Found(figures)


def change(function: Any, x: AnyArray, dtype: str) -> Any:
    """The central difference of the first derivative along ones."""
    step = given.STEPS[dtype]
    up, down = (
        ms.grad(function)(ms.Tensor((x + shift).astype(dtype))).asnumpy() for shift in (step, -step)
    )
    return given.sampled((up.astype(np.float64) - down) / (2 * step))["elements"]


def second(function: Any, x: AnyArray, dtype: str) -> Any:
    """The gradient of the sum of the gradient."""
    return given.sampled(ms.grad(ms.grad(function))(ms.Tensor(x.astype(dtype))).asnumpy())[
        "elements"
    ]


# The operators: each becomes a number by a sum, and is not linear


def power(x: Any) -> Any:
    return (x**3).sum()


def exponential(x: Any) -> Any:
    return ops.exp(x).sum()


def square_root(x: Any) -> Any:
    return ops.sqrt(x).sum()


def quotient(x: Any) -> Any:
    return (1 / x).sum()


def tanh(x: Any) -> Any:
    return ops.tanh(x).sum()


def gelu(x: Any) -> Any:
    return ops.gelu(x).sum()


def where(x: Any) -> Any:
    return ops.where(x > 1, x**3, x**2).sum()


def sine_of_view(x: Any) -> Any:
    return ops.sin(x.reshape(4, 1)).sum()


def cube_of_sum(x: Any) -> Any:
    return x.sum() ** 3


def cube_of_mean(x: Any) -> Any:
    return x.mean() ** 3


def norm(x: Any) -> Any:
    return ops.norm(x)


def greatest(x: Any) -> Any:
    return x.max() ** 3


def matrix_product(x: Any) -> Any:
    return (ops.matmul(x, x) ** 2).sum()


def transpose(x: Any) -> Any:
    return (x.T**3).sum()


def concatenation(x: Any) -> Any:
    return (ops.cat((x, x * x)) ** 2).sum()


def broadcast(x: Any) -> Any:
    return ((x[:, None] * x[None]) ** 2).sum()


def softmax(x: Any) -> Any:
    return (ops.softmax(x * x, -1) ** 2).sum()


def log_softmax(x: Any) -> Any:
    return (ops.log_softmax(x * x, -1) ** 2).sum()


def cross_entropy(x: Any) -> Any:
    return ops.cross_entropy(x * x, ms.Tensor([0, 1], ms.int32))


def convolution(x: Any) -> Any:
    return (ops.conv2d(x, ops.ones((1, 1, 2, 2), x.dtype)) ** 3).sum()


def batch_norm(x: Any) -> Any:
    mean, variance = ops.full((1,), 0.1, dtype=x.dtype), ops.full((1,), 2.0, dtype=x.dtype)
    weight, bias = ops.full((1,), 1.5, dtype=x.dtype), ops.full((1,), 0.25, dtype=x.dtype)
    return (ops.batch_norm(x * x, mean, variance, weight, bias, training=True) ** 3).sum()


def max_pooling(x: Any) -> Any:
    return (ops.max_pool2d(x, 2, 2) ** 3).sum()


def average_pooling(x: Any) -> Any:
    return (ops.avg_pool2d(x, 2, 2) ** 3).sum()


def attention(x: Any) -> Any:
    return (ops.matmul(ops.softmax(ops.matmul(x, x.swapaxes(-1, -2)), -1), x) ** 2).sum()


def flash_attention(x: Any) -> Any:
    return (ops.flash_attention_score(x, x, x, 1, input_layout="BNSD") ** 2).sum()


FUNCTIONS = {name: globals()[name] for names in given.OPERATORS.values() for name in names}
