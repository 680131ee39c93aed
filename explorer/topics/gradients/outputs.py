"""Functions of one input with outputs beside the loss, in plain Python that either framework takes."""

from typing import Any


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
