"""What the higher-order study gives both frameworks: orders, points, directions, the operators'
inputs, and closed forms.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray, unpack
from explorer.model.cases import GradCase
from explorer.model.measurement import Ask
from explorer.model.requests import Description, NetRequest
from explorer.model.results import Result
from explorer.scenario.contract import load
from explorer.topics.attempts import attempt, raised
from explorer.topics.starting_values import drawn_parameters, net_request

ELSEWHERE = re.compile(
    r" -* ?- (?:C\+\+ Call Stack|The Traceback|Framework|The Function Call Stack)"
    r"|\.node:|, Please confirm| FunctionGraph ID| NodeInfo|\. For more details"
)
RUNNING = re.compile(r"(?<=[A-Za-z])_\d{2,}\b|0x[0-9a-f]+|\(\d{3,}\)")

ORDERS = (1, 2, 3, 4, 5)
TRANSFORMING = ("mindspore-graph", "mindspore-tape", "torch-func")
"""Who computes Jacobians and Hessians."""

TWICE = ("mindspore-graph", "mindspore-tape", "torch-tape", "torch-func")
"""Who differentiates single operators twice."""

LARGEST = 2000
"""An order whose graph has more operators than this is the last that is asked of a net: the next
has more than twice as many.
"""

MOST_INPUTS = 3
SHOWN = 16
"""How many elements of a derivative are kept, evenly spaced; its norm speaks for all of them."""


def asked(ask: Ask, engine: str, describe: Callable[[NetRequest], Description]) -> NetRequest:
    """The scenario's net for an engine; without starting values of its own it starts from draws
    that both frameworks share.
    """
    plain = net_request(ask, engine)
    if plain.parameters:
        return plain
    start = drawn_parameters(describe(plain))
    return NetRequest(scenario=plain.scenario, engine=engine, device=plain.device, parameters=start)


def cases(scenario: str) -> dict[str, dict[int, GradCase]]:
    """The nested gradients asked of a scenario: by input, for its first floating ones, and by
    order.
    """
    floating = [
        (index, name)
        for index, (name, array) in enumerate(load(scenario).inputs().items())
        if array.dtype.kind == "f"
    ]
    return {
        name: {order: GradCase("grad", index, order=order) for order in ORDERS}
        for index, name in floating[:MOST_INPUTS]
    }


def beyond(order: int, size: int) -> dict[str, Any]:
    """The figure of an order that is not asked for, since the graph of ``order`` is large already."""
    return {
        "raised": "NotAsked",
        "message": f"the graph of order {order} has {size} operators already",
    }


def derivative(result: Result) -> dict[str, Any]:
    """A figure of an engine's answer: elements and norm of the derivative, or what was raised."""
    if result.error:
        return {"raised": result.error.type, "message": steady(result.error.message)}
    return sampled(unpack(result.leaves[0].value))


def tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """An attempt whose message, if it raises, is the same at every run."""
    figure = attempt(function, *arguments)
    return {**figure, "message": steady(figure["message"])} if raised(figure) else figure


def steady(message: str) -> str:
    """The start of a message, up to where MindSpore speaks of itself, without the running numbers
    of its graphs.
    """
    told = ELSEWHERE.split(" ".join(message.split()), maxsplit=1)[0].strip(" -")
    return RUNNING.sub("", told)


def sampled(array: AnyArray) -> dict[str, Any]:
    """Shape, norm, and up to SHOWN elements of an array."""
    flat = np.asarray(array, np.float64).ravel()
    picks = np.linspace(0, flat.size - 1, min(flat.size, SHOWN)).round().astype(int)
    return {
        "shape": list(np.shape(array)),
        "norm": float(np.linalg.norm(flat)),
        "elements": flat[picks].tolist(),
    }


def wave(order: int, x: float = 0.7) -> float:
    """The derivative of order ``order`` of eˣ·sin x, in closed form."""
    return float(2 ** (order / 2) * np.exp(x) * np.sin(x + order * np.pi / 4))


# Transformations: of a field v(x) and an energy e(x), once by element and once with a matrix
# product

MATRIX = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [0.5, 0.0, 1.0]])
POINT = np.array([0.5, 1.0, 2.0])
DIRECTION = np.array([1.0, 0.0, 2.0])
BATCH = np.array([[0.5, 1.0, 2.0], [0.1, -0.2, 0.3]])
BY_ELEMENT, BY_MATRIX = "by element", "with a matrix product"
FORMULAS = {BY_ELEMENT: "v = eˣ·sin x, e = Σv", BY_MATRIX: "v = A·sin x, e = Σv²"}


class Derivatives(msgspec.Struct, frozen=True):
    """The derivatives at ``POINT`` of a field (``jacobian``) and an energy, and of the energy at
    every row of ``BATCH``.
    """

    jacobian: AnyArray
    hessian: AnyArray
    gradients: AnyArray
    curvatures: AnyArray


def _by_element() -> Derivatives:
    slope, curve = (np.sqrt(2) ** n * np.exp(BATCH) * np.sin(BATCH + n * np.pi / 4) for n in (1, 2))
    return Derivatives(np.diag(slope[0]), np.diag(curve[0]), slope, curve)


def _by_matrix() -> Derivatives:
    fields = [MATRIX * np.cos(x) for x in BATCH]
    gradients = [2 * field.T @ MATRIX @ np.sin(x) for field, x in zip(fields, BATCH, strict=True)]
    bends = [np.diag(-2 * np.sin(x) * (MATRIX.T @ MATRIX @ np.sin(x))) for x in BATCH]
    hessians = [2 * field.T @ field + bend for field, bend in zip(fields, bends, strict=True)]
    return Derivatives(
        fields[0],
        hessians[0],
        np.array(gradients),
        np.array([hessian.sum(0) for hessian in hessians]),
    )


def _closed(known: Derivatives) -> dict[str, AnyArray]:
    return {
        "jacrev": known.jacobian,
        "jacfwd": known.jacobian,
        "vjp": known.jacobian.T @ DIRECTION,
        "jvp": known.jacobian @ DIRECTION,
        "vmap of grad": known.gradients,
        "vmap of grad of grad": known.curvatures,
        "Hessian": known.hessian,
        "Hessian, jacfwd of grad": known.hessian,
        "Hessian, jacrev of grad": known.hessian,
        "Hessian, jacfwd of jacrev": known.hessian,
        "Hessian times vector, jvp of grad": known.hessian @ DIRECTION,
        "Hessian times vector, vjp of grad": known.hessian @ DIRECTION,
    }


CONTRASTED = (
    "jacrev",
    "vjp",
    "vmap of grad",
    "Hessian, jacrev of grad",
    "Hessian times vector, vjp of grad",
)
"""What is asked of the net with a matrix product too."""

CLOSED: dict[str, dict[str, AnyArray]] = {
    BY_ELEMENT: _closed(_by_element()),
    BY_MATRIX: {what: value for what, value in _closed(_by_matrix()).items() if what in CONTRASTED},
}
"""Each transformation's value in float64. They are computed in float32; those of DOUBLE by element
once more in float64.
"""

DOUBLE = ("jacrev", "jacfwd")


def asked_of(net: str, double: bool) -> tuple[str, ...]:
    """The transformations of a net that are computed in float32, or ``double`` in float64."""
    return tuple(
        what for what in CLOSED[net] if not double or (net == BY_ELEMENT and what in DOUBLE)
    )


def closed_forms() -> dict[str, list[Any]]:
    """Every transformation that is measured, under the name of its figure."""
    return {
        f"{what}, {net}{', float64' * double}": CLOSED[net][what].tolist()
        for net in CLOSED
        for double in (False, True)
        for what in asked_of(net, double)
    }


# Operators, each with the input at which it is differentiated twice

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
"""The function of each name is in in_mindspore_operators and in_torch_operators."""

SINGLE = {
    "log_softmax",
    "cross_entropy",
    "convolution",
    "batch_norm",
    "average_pooling",
    "flash_attention",
}
"""Operators asked in float32: MindSpore 2.10 has no kernel with float64's accuracy for them on the
CPU. The others in float64.
"""

STEPS = {"float64": 1e-5, "float32": 1e-3}


def dtype_of(operator: str) -> str:
    """The dtype in which an operator is differentiated twice."""
    return "float32" if operator in SINGLE else "float64"
