"""Jacobians, products, Hessians and batches of gradients, and what they are in float64.

The functions are of one vector: a field v(x), and an energy e(x), which is a number. There is a
pair of them for each kind of operator behind which terms of a second derivative may get lost.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray
from explorer.model.message import Text, message
from explorer.numeric.differences import relative_error
from explorer.topics.attempts import attempt_briefly, raised, said

NEAR = 1e-5
"""Up to this relative difference a derivative is what it is held against."""

Function = Callable[[Any], Any]

BY_ELEMENT, BY_MATRIX = "by element", "with a matrix product"
BY_BROADCAST, BY_REDUCTION = "with a broadcast", "with a reduction"

MATRIX = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [0.5, 0.0, 1.0]])
POINT = np.array([0.5, 1.0, 2.0])
DIRECTION = np.array([1.0, 0.0, 2.0])
COTANGENT = np.array([1.0, 0.0, 2.0, -1.0, 0.5, 3.0, 0.0, -2.0, 1.5])
"""What the longest field is weighed with; shorter ones take its beginning."""
BATCH = np.array([[0.5, 1.0, 2.0], [0.1, -0.2, 0.3]])


# The functions, in either framework and in numpy: ``space`` is mindspore.ops, torch or numpy.
# MindSpore compiles them from this file (2.10), so they are written with names that all have.


def by_element(space: Any, matrix: Any) -> tuple[Function, Function]:
    """v = eˣ·sin x, and its sum."""

    def field(x: Any) -> Any:
        """v(x), a vector."""
        return space.exp(x) * space.sin(x)

    def energy(x: Any) -> Any:
        """e(x), a number."""
        return (space.exp(x) * space.sin(x)).sum()

    return field, energy


def by_matrix(space: Any, matrix: Any) -> tuple[Function, Function]:
    """v = A·sin x, and the sum of its squares."""

    def field(x: Any) -> Any:
        """v(x), a vector."""
        return space.matmul(matrix, space.sin(x))

    def energy(x: Any) -> Any:
        """e(x), a number."""
        return (space.matmul(matrix, space.sin(x)) ** 2).sum()

    return field, energy


def by_broadcast(space: Any, matrix: Any) -> tuple[Function, Function]:
    """v = all products of an element of x and an element of sin x, and the sum of their squares."""

    def field(x: Any) -> Any:
        """v(x), a vector of nine."""
        return (x.reshape(3, 1) * space.sin(x)).reshape(9)

    def energy(x: Any) -> Any:
        """e(x), a number."""
        return ((x.reshape(3, 1) * space.sin(x)) ** 2).sum()

    return field, energy


def by_reduction(space: Any, matrix: Any) -> tuple[Function, Function]:
    """v = x times a sum over it, and the cube of that sum."""

    def field(x: Any) -> Any:
        """v(x), a vector."""
        return x * space.sin(x).sum()

    def energy(x: Any) -> Any:
        """e(x), a number."""
        return space.sin(x).sum() ** 3

    return field, energy


NETS: dict[str, Callable[[Any, Any], tuple[Function, Function]]] = {
    BY_ELEMENT: by_element,
    BY_MATRIX: by_matrix,
    BY_BROADCAST: by_broadcast,
    BY_REDUCTION: by_reduction,
}
"""The field and the energy of each net, made of a framework's operators and MATRIX."""


# The calls


class Transforms(msgspec.Struct, frozen=True):
    """How a framework transforms functions.

    ``space`` has grad, vjp, vmap, jacrev and jacfwd, which mindspore and torch.func name alike; for
    the others there is a function of our own. ``jvp`` is the product of a function's Jacobian at a
    point with a direction. ``slope`` makes the gradient of the sum of a function's elements.
    """

    space: Any
    jvp: Callable[[Function, Any, Any], Any]
    slope: Callable[[Function], Function]

    def calls(
        self, field: Function, energy: Function, x: Any, v: Any, u: Any, batch: Any
    ) -> dict[str, Callable[[], Any]]:
        """Every transformation, still to be called.

        Of ``field`` and ``energy`` at ``x``, with direction ``v`` and the field's cotangent ``u``,
        or at every row of ``batch``.
        """
        space = self.space
        return {
            "jacrev": lambda: space.jacrev(field)(x),
            "jacfwd": lambda: space.jacfwd(field)(x),
            "vjp": lambda: space.vjp(field, x)[1](u)[0],
            "jvp": lambda: self.jvp(field, x, v),
            "vmap of grad": lambda: space.vmap(space.grad(energy))(batch),
            "vmap of grad of grad": lambda: space.vmap(self.slope(space.grad(energy)))(batch),
            "Hessian": lambda: space.hessian(energy)(x),  # MindSpore has none (2.10)
            "Hessian, jacfwd of grad": lambda: space.jacfwd(space.grad(energy))(x),
            "Hessian, jacrev of grad": lambda: space.jacrev(space.grad(energy))(x),
            "Hessian, jacfwd of jacrev": lambda: space.jacfwd(space.jacrev(energy))(x),
            "Hessian times vector, jvp of grad": lambda: self.jvp(space.grad(energy), x, v),
            "Hessian times vector, vjp of grad": lambda: space.vjp(space.grad(energy), x)[1](v)[0],
        }


def figures_of(
    net: str, dtype: str, calls: Mapping[str, Callable[[], Any]], numbers: Callable[[Any], Any]
) -> dict[str, Any]:
    """What is asked of a net in one of DTYPES, each under its name.

    Nested ``numbers`` of what the call returns, or what it raised.
    """
    figures = {}
    for name in asked_of(net, dtype):
        figure = attempt_briefly(numbers_of, calls[name], numbers)
        figures[figure_name(name, net, dtype)] = figure
    return figures


def numbers_of(call: Callable[[], Any], numbers: Callable[[Any], Any]) -> Any:
    """The nested ``numbers`` of what a call returns."""
    # One attempt for both: MindSpore computes asynchronously (2.10), so some errors come only as
    # the numbers are read.
    return numbers(call())


# What they are in float64


def arrays_of(net: str) -> dict[str, AnyArray]:
    """What a framework makes tensors of for a net, by the names of what takes them.

    "matrix" goes to the functions of NETS; the others to Transforms.calls.
    """
    field, _ = NETS[net](np, MATRIX)
    cotangent = COTANGENT[: field(POINT).size]
    return {"matrix": MATRIX, "x": POINT, "v": DIRECTION, "u": cotangent, "batch": BATCH}


def in_float64(net: str) -> dict[str, AnyArray]:
    """The value of every transformation of a net, by numpy in float64.

    The Jacobian is of shape (size of v, 3), the Hessian (3, 3); batches have two rows.
    """
    field, energy = NETS[net](np, MATRIX)
    cotangent = arrays_of(net)["u"]
    jacobian = exact_jacobian(field, POINT)
    hessian = exact_hessian(energy, POINT)
    gradients = [exact_jacobian(energy, x)[0] for x in BATCH]
    curvatures = [exact_hessian(energy, x).sum(axis=0) for x in BATCH]
    return {
        "jacrev": jacobian,
        "jacfwd": jacobian,
        "vjp": jacobian.T @ cotangent,
        "jvp": jacobian @ DIRECTION,
        "vmap of grad": np.array(gradients),
        "vmap of grad of grad": np.array(curvatures),
        "Hessian": hessian,
        "Hessian, jacfwd of grad": hessian,
        "Hessian, jacrev of grad": hessian,
        "Hessian, jacfwd of jacrev": hessian,
        "Hessian times vector, jvp of grad": hessian @ DIRECTION,
        "Hessian times vector, vjp of grad": hessian @ DIRECTION,
    }


ONCE = ("Hessian",)
"""What is asked of the net by element alone: a function that is not there is not there for all."""

TWICE_IN_FLOAT64 = ("jacrev", "jacfwd")
"""What is asked once more in float64, of the net by element; all is asked in float32."""

DTYPES = ("float32", "float64")


def asked_of(net: str, dtype: str) -> tuple[str, ...]:
    """The transformations of a net that are computed in one of DTYPES."""
    if dtype == "float64":
        return TWICE_IN_FLOAT64 if net == BY_ELEMENT else ()
    names = tuple(in_float64(net))
    return names if net == BY_ELEMENT else tuple(name for name in names if name not in ONCE)


def figure_name(transformation: str, net: str, dtype: str) -> str:
    """What a measurement calls a transformation of a net: "jacrev, by element, float64"."""
    name = f"{transformation}, {net}"
    return f"{name}, float64" if dtype == "float64" else name


@cache
def references() -> dict[str, list[Any]]:
    """Every transformation that is measured, in float64, under the name of its figure."""
    values: dict[str, list[Any]] = {}
    for name, (transformation, net, _) in places().items():
        values[name] = in_float64(net)[transformation].tolist()
    return values


@cache
def places() -> dict[str, tuple[str, str, str]]:
    """The transformation, the net and the dtype of each figure, by its name."""
    found: dict[str, tuple[str, str, str]] = {}
    for net in NETS:
        for dtype in DTYPES:
            for transformation in asked_of(net, dtype):
                found[figure_name(transformation, net, dtype)] = (transformation, net, dtype)
    return found


def name_of(figure: str) -> Text:
    """The name of a transformation's figure, as a reader has it."""
    transformation, net, dtype = places()[figure]
    return message(
        "higher_order.call_in_float64" if dtype == "float64" else "higher_order.call_of_net",
        call=message(f"higher_order.{transformation}"),
        net=message(f"higher_order.{net}"),
    )


STANDINGS = ("right", "wrong without a message", "refused")
"""What a transformation can be: a wrong number that nobody is told of is a class of its own."""


def standing(figure: Any, reference: list[Any]) -> str:
    """How a transformation stands against float64, one of STANDINGS."""
    if raised(figure):
        return "refused"
    right = relative_error(figure, reference) <= NEAR
    return "right" if right else "wrong without a message"


def held(figure: Any, reference: list[Any]) -> Text:
    """How a transformation stands against float64, for a table's cell.

    "right", "wrong: off by …", or what was raised.
    """
    if raised(figure):
        return said(figure)
    if standing(figure, reference) == "right":
        return message("higher_order.right")
    return message("higher_order.off_by", error=relative_error(figure, reference))


IMAGINARY_STEP = 1e-30
"""The step of first derivatives: the imaginary part of f(x + ih) / h, which subtracts nothing.

Squire and Trapp, "Using complex variables to estimate derivatives of real functions", 1998.
"""

STEP = 1e-5
"""The step of second derivatives, central differences of exact first ones.

Both their errors are far below float32's rounding: STEP² of the curvature, and 1e-16 / STEP.
"""


def exact_jacobian(function: Function, x: AnyArray) -> AnyArray:
    """The derivative of a function of a vector, shape (size of its value, size of ``x``).

    ``function`` must be written in operators that take complex numbers.
    """
    columns = []
    for direction in np.eye(x.size):
        value = function(x + 1j * IMAGINARY_STEP * direction)
        columns.append(np.imag(value).ravel() / IMAGINARY_STEP)
    return np.stack(columns, axis=1)


def exact_hessian(function: Function, x: AnyArray) -> AnyArray:
    """The second derivative of a number-valued function of a vector, shape (size, size)."""
    columns = []
    for direction in np.eye(x.size):
        above = exact_jacobian(function, x + STEP * direction)[0]
        below = exact_jacobian(function, x - STEP * direction)[0]
        columns.append((above - below) / (2 * STEP))
    return np.stack(columns, axis=1)
