"""The inputs of the conventions, and functions of them that every framework takes as they are."""

from typing import Any

X, Y = [1.0, 2.0], [3.0, 5.0]
"""The two inputs of most functions."""

EQUAL = [1.0, 3.0, 3.0, 2.0]
"""Numbers of which the second and the third are equal and the greatest."""

COMPLEX = [1.0 + 2.0j]


def squares(x: Any) -> Any:
    """x², a number for each of x."""
    return x * x


def sum_of_squares(x: Any) -> Any:
    """The sum of x²."""
    return (x * x).sum()


def sum_of_cubes(x: Any) -> Any:
    """The sum of x³."""
    return (x * x * x).sum()


def first_alone(x: Any, y: Any) -> Any:
    """The sum of x²; y is not used."""
    return (x * x).sum()


def product(x: Any, y: Any) -> Any:
    """The sum of x²y: by x it is 2xy, by y it is x²."""
    return (x * x * y).sum()


def product_of_two(a: Any, b: Any) -> Any:
    """The sum of a·b."""
    return (a * b).sum()


def of_entries(entries: Any) -> Any:
    """The sum of the product of the two entries of a dict."""
    return (entries["a"] * entries["b"]).sum()


def loss_and_logits(x: Any) -> Any:
    """The sum of 9x², and 3x."""
    logits = x * 3
    return (logits * logits).sum(), logits


def branching(x: Any) -> Any:
    """The sum of x² where the sum of x is above zero, else that of x."""
    if x.sum() > 0:
        return (x * x).sum()
    return x.sum()


def written_in_place(x: Any) -> Any:
    """The sum of x², with zero written over the first element."""
    hidden = x * 1
    hidden[0] = 0
    return (hidden * hidden).sum()


BATCH = [[0.0, 4.0], [4.0, 0.0]]
"""Two examples of two features: each feature has mean 2, variance 4 in the batch, 8 as an estimate."""

STEPS = 2
"""How many steps an optimizer takes."""

RATE = 0.1
"""The learning rate of these."""

SHAPES = ([1.0, 2.0], [3.0, 5.0], [[2.0], [1.0]])
"""Inputs of one gradient function, one of them of another shape."""

WEIGHT, TRAINED = 3.0, 3.0 * (1 - 2 * RATE) ** 2
"""A weight, and what two steps of gradient descent on its square make of it."""

NEAR = 1e-5
"""How far a weight may be from where it should be."""
