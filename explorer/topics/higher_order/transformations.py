"""Jacobians, products, Hessians and batches of gradients, and their closed forms.

The functions are of one vector: a field v(x), and an energy e(x), which is a number. There are two
of each, one that works by element and one with a matrix product.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from explorer.model.arrays import AnyArray
from explorer.numeric.differences import relative_error
from explorer.topics.attempts import attempt_briefly, raised, said
from explorer.topics.higher_order import wave

NEAR = 1e-5
"""Up to this relative difference a derivative is what it is held against."""

Function = Callable[[Any], Any]

BY_ELEMENT, BY_MATRIX = "by element", "with a matrix product"
FORMULAS = {BY_ELEMENT: "v = eˣ·sin x, e = Σv", BY_MATRIX: "v = A·sin x, e = Σv²"}

MATRIX = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [0.5, 0.0, 1.0]])
POINT = np.array([0.5, 1.0, 2.0])
DIRECTION = np.array([1.0, 0.0, 2.0])
BATCH = np.array([[0.5, 1.0, 2.0], [0.1, -0.2, 0.3]])

ARRAYS = (MATRIX, POINT, DIRECTION, BATCH)
"""What a framework makes tensors of."""


# The functions, in either framework: ``space`` is mindspore.ops or torch. MindSpore compiles them
# from this file (2.10), so they are written with names that both have.


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


NETS: dict[str, Callable[[Any, Any], tuple[Function, Function]]] = {
    BY_ELEMENT: by_element,
    BY_MATRIX: by_matrix,
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
        self, field: Function, energy: Function, x: Any, v: Any, batch: Any
    ) -> dict[str, Callable[[], Any]]:
        """Every transformation, still to be called.

        Of ``field`` and ``energy`` at ``x``, with direction ``v``, or at every row of ``batch``.
        """
        space = self.space
        return {
            "jacrev": lambda: space.jacrev(field)(x),
            "jacfwd": lambda: space.jacfwd(field)(x),
            "vjp": lambda: space.vjp(field, x)[1](v)[0],
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


# The closed forms


class Derivatives(msgspec.Struct, frozen=True):
    """The derivatives of a field and an energy, in float64.

    At POINT the field's ``jacobian`` and the energy's ``hessian``, shape (3, 3); at every row of
    BATCH the energy's ``gradients`` and the sums of their rows of second derivatives
    (``curvatures``), shape (2, 3).
    """

    jacobian: AnyArray
    hessian: AnyArray
    gradients: AnyArray
    curvatures: AnyArray


def derivatives_by_element() -> Derivatives:
    """Those of v = eˣ·sin x and e = Σv."""
    first = wave.derivative(1, BATCH)
    second = wave.derivative(2, BATCH)
    return Derivatives(np.diag(first[0]), np.diag(second[0]), first, second)


def derivatives_by_matrix() -> Derivatives:
    """Those of v = A·sin x and e = Σv²."""
    jacobians, gradients, hessians = [], [], []
    for x in BATCH:
        jacobian = MATRIX * np.cos(x)
        jacobians.append(jacobian)
        gradients.append(2 * jacobian.T @ MATRIX @ np.sin(x))
        # d²/dx² of |v|² has a term of first derivatives and one that bends v itself.
        bend = np.diag(-2 * np.sin(x) * (MATRIX.T @ MATRIX @ np.sin(x)))
        hessians.append(2 * jacobian.T @ jacobian + bend)
    curvatures = [hessian.sum(axis=0) for hessian in hessians]
    return Derivatives(jacobians[0], hessians[0], np.array(gradients), np.array(curvatures))


def closed_forms_of(known: Derivatives) -> dict[str, AnyArray]:
    """The value of every transformation, in float64."""
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


WITH_MATRIX = (
    "jacrev",
    "vjp",
    "vmap of grad",
    "Hessian, jacrev of grad",
    "Hessian times vector, vjp of grad",
)
"""What is asked of the net with a matrix product too."""

IN_FLOAT64 = ("jacrev", "jacfwd")
"""What is asked once more in float64, of the net by element; all is asked in float32."""

_BY_MATRIX = closed_forms_of(derivatives_by_matrix())

CLOSED: dict[str, dict[str, AnyArray]] = {
    BY_ELEMENT: closed_forms_of(derivatives_by_element()),
    BY_MATRIX: {name: _BY_MATRIX[name] for name in WITH_MATRIX},
}
"""By net, the transformations asked of it, and what each is in closed form."""

DTYPES = ("float32", "float64")


def asked_of(net: str, dtype: str) -> tuple[str, ...]:
    """The transformations of a net that are computed in one of DTYPES."""
    if dtype == "float32":
        return tuple(CLOSED[net])
    return IN_FLOAT64 if net == BY_ELEMENT else ()


def figure_name(transformation: str, net: str, dtype: str) -> str:
    """What a measurement calls a transformation of a net: "jacrev, by element, float64"."""
    name = f"{transformation}, {net}"
    return f"{name}, float64" if dtype == "float64" else name


def closed_forms() -> dict[str, list[Any]]:
    """Every transformation that is measured, under the name of its figure."""
    forms: dict[str, list[Any]] = {}
    for net, closed in CLOSED.items():
        for dtype in DTYPES:
            for transformation in asked_of(net, dtype):
                name = figure_name(transformation, net, dtype)
                forms[name] = closed[transformation].tolist()
    return forms


def held(figure: Any, closed_form: list[Any]) -> str:
    """How a transformation stands against its closed form.

    "agrees", "wrong: off by …", or what was raised.
    """
    if raised(figure):
        return said(figure)
    difference = relative_error(figure, closed_form)
    return "agrees" if difference <= NEAR else f"wrong: off by {difference:.2g}"
