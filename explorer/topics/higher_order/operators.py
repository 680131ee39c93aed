"""Single operators that are differentiated twice, their inputs, and what decides on the result.

Their functions become a number by a sum and are not linear; a second derivative is held against the
change of the first.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.message import Text, message
from explorer.numeric.differences import relative_error
from explorer.topics.attempts import raised
from explorer.topics.higher_order.nested import sampled

_ROW = np.linspace(0.3, 2.1, 4)
_SQUARE = np.linspace(0.3, 1.7, 4).reshape(2, 2)
_IMAGE = np.linspace(0.2, 2.0, 16).reshape(1, 1, 4, 4) ** 1.5

OPERATORS: dict[str, dict[str, AnyArray]] = {
    "by element": {
        "power": _ROW,
        "exponential": _ROW,
        "square_root": _ROW,
        "quotient": _ROW,
        "tanh": _ROW,
        "gelu": _ROW,
        "where": _ROW,
        "sine_of_view": _SQUARE,
    },
    "by shape": {
        "cube_of_sum": _ROW,
        "cube_of_mean": _ROW,
        "norm": _ROW,
        "greatest": _ROW,
        "matrix_product": _SQUARE,
        "transpose": _SQUARE,
        "concatenation": _ROW,
        "broadcast": _ROW,
    },
    "by layer": {
        "softmax": _ROW,
        "log_softmax": _SQUARE,
        "cross_entropy": _SQUARE,
        "convolution": _IMAGE,
        "batch_norm": _IMAGE,
        "max_pooling": _IMAGE,
        "average_pooling": _IMAGE,
        "attention": _SQUARE.reshape(1, 1, 2, 2),
        "flash_attention": _SQUARE.reshape(1, 1, 2, 2),
    },
}
"""By group, each operator's name, and the input at which it is differentiated twice."""

IN_FLOAT32 = {
    "log_softmax",
    "cross_entropy",
    "convolution",
    "batch_norm",
    "average_pooling",
    "flash_attention",
}
"""Operators asked in float32; the others are asked in float64.

MindSpore 2.10 has no kernel with float64's accuracy for them on the CPU.
"""

STEPS = {"float64": 1e-5, "float32": 1e-3}
"""The step of a central difference: the smaller one drowns in float32's rounding."""

AGREES = 0.02
"""A second derivative within this share of the greatest element of its reference agrees.

The reference is the change of the first derivative. Where a second one is lost it is wrong by far
more, and in float32 a central difference is not sharper.
"""

OUTCOMES = ("agrees", "wrong", "raises")
"""What a second derivative can be."""


def dtype_of(operator: str) -> str:
    """The dtype in which an operator is differentiated twice."""
    return "float32" if operator in IN_FLOAT32 else "float64"


# The operators that both frameworks write alike: ``ops`` is mindspore.ops or torch, ``layers`` is
# mindspore.ops or torch.nn.functional. MindSpore (2.10) compiles them from this file, and finds the
# modules in the enclosing function.


def by_element(ops: Any, layers: Any) -> list[Callable[[Any], Any]]:
    """Those that work on each element."""

    def power(x: Any) -> Any:
        """Σ x³."""
        return (x**3).sum()

    def exponential(x: Any) -> Any:
        """Σ eˣ."""
        return ops.exp(x).sum()

    def square_root(x: Any) -> Any:
        """Σ √x."""
        return ops.sqrt(x).sum()

    def quotient(x: Any) -> Any:
        """Σ 1/x."""
        return (1 / x).sum()

    def tanh(x: Any) -> Any:
        """Σ tanh x."""
        return ops.tanh(x).sum()

    def gelu(x: Any) -> Any:
        """Σ gelu(x)."""
        return layers.gelu(x).sum()

    def where(x: Any) -> Any:
        """Σ x³ above 1, Σ x² below."""
        return ops.where(x > 1, x**3, x**2).sum()

    def sine_of_view(x: Any) -> Any:
        """Σ sin x through a view of another shape."""
        return ops.sin(x.reshape(4, 1)).sum()

    return [power, exponential, square_root, quotient, tanh, gelu, where, sine_of_view]


def by_shape(ops: Any) -> list[Callable[[Any], Any]]:
    """Those that reduce, multiply, join and broadcast."""

    def cube_of_sum(x: Any) -> Any:
        """(Σ x)³."""
        return x.sum() ** 3

    def cube_of_mean(x: Any) -> Any:
        """The cube of the mean."""
        return x.mean() ** 3

    def matrix_product(x: Any) -> Any:
        """Σ (x·x)²."""
        return (ops.matmul(x, x) ** 2).sum()

    def transpose(x: Any) -> Any:
        """Σ (xᵀ)³."""
        return (x.T**3).sum()

    def concatenation(x: Any) -> Any:
        """Σ of the squares of x and x² in a row."""
        return (ops.cat((x, x * x)) ** 2).sum()

    def broadcast(x: Any) -> Any:
        """Σ (xᵢ·xⱼ)²."""
        return ((x[:, None] * x[None]) ** 2).sum()

    return [cube_of_sum, cube_of_mean, matrix_product, transpose, concatenation, broadcast]


def by_layer(ops: Any, layers: Any) -> list[Callable[[Any], Any]]:
    """Those that nets have as layers."""

    def softmax(x: Any) -> Any:
        """Σ softmax(x²)²."""
        return (ops.softmax(x * x, -1) ** 2).sum()

    def log_softmax(x: Any) -> Any:
        """Σ (log softmax(x²))²."""
        return (ops.log_softmax(x * x, -1) ** 2).sum()

    def max_pooling(x: Any) -> Any:
        """Σ of the cubes of the greatest of each window."""
        return (layers.max_pool2d(x, 2, 2) ** 3).sum()

    def average_pooling(x: Any) -> Any:
        """Σ of the cubes of each window's mean."""
        return (layers.avg_pool2d(x, 2, 2) ** 3).sum()

    def attention(x: Any) -> Any:
        """Σ (softmax(x·xᵀ)·x)²."""
        weights = ops.softmax(ops.matmul(x, x.swapaxes(-1, -2)), -1)
        return (ops.matmul(weights, x) ** 2).sum()

    return [softmax, log_softmax, max_pooling, average_pooling, attention]


def functions(
    ops: Any, layers: Any, own: Iterable[Callable[[Any], Any]]
) -> dict[str, Callable[[Any], Any]]:
    """The function of every operator by its name.

    Those that both frameworks write alike, and a framework's ``own``.
    """
    alike = [*by_element(ops, layers), *by_shape(ops), *by_layer(ops, layers)]
    return {function.__name__: function for function in (*alike, *own)}


def change_along_ones(
    gradient: Callable[[AnyArray], AnyArray], x: AnyArray, dtype: str
) -> list[float]:
    """How a first derivative changes along ones: its central difference at ``x``, some elements."""
    step = STEPS[dtype]
    # The difference of two gradients of one size: it is taken in float64, whatever they are in.
    above = gradient((x + step).astype(dtype)).astype(np.float64)
    below = gradient((x - step).astype(dtype)).astype(np.float64)
    elements: list[float] = sampled((above - below) / (2 * step))["elements"]
    return elements


def elements_at(gradient: Callable[[AnyArray], AnyArray], x: AnyArray, dtype: str) -> list[float]:
    """Some elements of a derivative at ``x``."""
    elements: list[float] = sampled(gradient(x.astype(dtype)))["elements"]
    return elements


def outcome(figure: dict[str, Any]) -> str:
    """What a second derivative is, one of OUTCOMES.

    It "agrees" with the change of the first, is "wrong", or "raises".
    """
    change, second = figure["change of first"], figure["second"]
    if raised(second):
        return "raises"
    if raised(change):
        return "wrong"
    return "agrees" if relative_error(second, change) <= AGREES else "wrong"


def by_outcome(figures: Mapping[str, dict[str, Any]]) -> dict[str, list[str]]:
    """The names of some operators by what their second derivative is."""
    names: dict[str, list[str]] = {kind: [] for kind in OUTCOMES}
    for name, figure in figures.items():
        names[outcome(figure)].append(name)
    return names


def name_of(operator: str) -> Text:
    """The name of an operator as a reader has it: "cube of sum"."""
    return message(f"higher_order.operator.{operator}")
