"""What gradient calls are given: positions by their names in evidence, and functions of one input."""

from typing import Any

POSITIONS: dict[str, Any] = {
    "0": 0,
    "1": 1,
    "(0, 1)": (0, 1),
    "'0'": "0",
    "True": True,
    "[0, 1]": [0, 1],
    "()": (),
    "-1": -1,
    "(0, 0)": (0, 0),
    "2": 2,
}
"""Positions of a function of two inputs: those that the guide's text allows come first."""

TRUE_GRADIENTS: dict[str, Any] = {
    "0": [[8.0, 12.0]],
    "1": [[8.0]],
    "(0, 1)": [[[8.0, 12.0]], [[8.0]]],
    "ParameterTuple": [[[4.0, 8.0]]],
    "Parameter": [[4.0, 8.0]],
    "list": [[[4.0, 8.0]]],
}
"""The gradients of (w · x) y at x = (1, 2), y = 4, w = (2, 3), by what the guide's text allows."""


def one_output(x: Any) -> Any:
    """The sum of 9x²."""
    logits = x * 3
    return (logits * logits).sum()


def tuple_of_one(x: Any) -> Any:
    """The sum of 9x² in a tuple."""
    logits = x * 3
    return ((logits * logits).sum(),)


def two_outputs(x: Any) -> Any:
    """The sum of 9x², and 3x."""
    logits = x * 3
    return (logits * logits).sum(), logits


def squares(x: Any) -> Any:
    """The sum of squares."""
    return (x * x).sum()
