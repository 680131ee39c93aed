"""Nested arguments of an operator, with other things in the places of some."""

from collections.abc import Callable
from typing import Any


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """Nested tuples, lists and dicts, with what ``change`` returns in the place of each leaf.

    Leaves are changed from left to right.
    """
    if isinstance(value, (tuple, list)):
        return type(value)(replaced(item, change) for item in value)
    if isinstance(value, dict):
        return {key: replaced(item, change) for key, item in value.items()}
    return change(value)
