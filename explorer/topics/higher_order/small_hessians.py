"""Functions of two numbers whose Hessians have closed forms, and how these are held against answers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.model.arrays import AnyArray
from explorer.numeric.differences import relative_error
from explorer.topics.attempts import raised
from explorer.topics.higher_order.transformations import NEAR

POINT = np.array([1.0, 2.0])
MATRIX = np.array([[1.0, 2.0], [0.0, 1.0]])

NESTED = "grad of grad"
"""The call whose result is a Hessian's sums."""

HESSIAN = "jacfwd of grad"
"""The call whose result is the Hessian itself."""


def cube_of_sum(x: Any) -> Any:
    """(Σx)³."""
    return x.sum() ** 3


def broadcast(x: Any) -> Any:
    """Σ(xᵢ·xⱼ)²."""
    return ((x[:, None] * x[None]) ** 2).sum()


def of_cube_of_sum() -> AnyArray:
    """The Hessian of (Σx)³: 6Σx everywhere."""
    return np.full((2, 2), 6 * POINT.sum())


def of_broadcast() -> AnyArray:
    """The Hessian of Σ(xᵢ·xⱼ)², which is (Σx²)²."""
    hessian: AnyArray = 4 * (POINT**2).sum() * np.eye(2) + 8 * np.outer(POINT, POINT)
    return hessian


def of_product() -> AnyArray:
    """The Hessian of |A·sin x|²: the part of the first derivatives, and that which bends sin x."""
    jacobian = MATRIX * np.cos(POINT)
    bend = np.diag(-2 * np.sin(POINT) * (MATRIX.T @ MATRIX @ np.sin(POINT)))
    hessian: AnyArray = 2 * jacobian.T @ jacobian + bend
    return hessian


HESSIANS: dict[str, AnyArray] = {
    "cube_of_sum": of_cube_of_sum(),
    "broadcast": of_broadcast(),
    "product_with_vector": of_product(),
    "product_with_column": of_product(),
}
"""The Hessian of each function at POINT, by the function's name in the programs."""


CALLS: dict[str, tuple[str, ...]] = {
    "cube_of_sum": (NESTED,),
    "broadcast": (NESTED,),
    "product_with_vector": (NESTED, HESSIAN),
    "product_with_column": (NESTED, HESSIAN),
}
"""The calls that are made for each function: those that the claim speaks of.

The study of the topic makes them all, for more functions; forward mode takes MindSpore seconds to compile.
"""


def closed_form(function: str, call: str) -> list[Any]:
    """What a call must return for a function."""
    hessian = HESSIANS[function]
    form: list[Any] = (hessian.sum(axis=0) if call == NESTED else hessian).tolist()
    return form


def wrong_in_silence(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """The functions for which a call returns wrong numbers, by the call.

    What is refused is not wrong: it says so.
    """
    wrong: dict[str, list[str]] = {}
    for function, by_call in figures.items():
        for call, figure in by_call.items():
            functions = wrong.setdefault(call, [])
            if raised(figure):
                continue
            if relative_error(figure, closed_form(function, call)) > NEAR:
                functions.append(function)
    return wrong
