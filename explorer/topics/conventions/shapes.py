"""The structure of what a gradient call returns, as a text: "(x, (x, x))"."""

from typing import Any


def shape_of(returned: Any) -> str:
    """Tuples as they are nested, with an x for each tensor in them."""
    if not isinstance(returned, (tuple, list)):
        return "x"
    items = ", ".join(map(shape_of, returned))
    return f"({items},)" if len(returned) == 1 else f"({items})"
