"""Which layer of a framework a module is, and which of its constructor's arguments are settings."""

import inspect
from typing import Any

ABOUT_MEMORY = frozenset({"device", "dtype", "inplace"})
"""Parameters of constructors that are no setting of what a layer computes."""

START = "_init"
"""The end of the names of parameters that say how a weight begins."""

BY_POSITION = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
"""The kinds of parameters that have no name of their own."""


def framework_class(module: Any, packages: tuple[str, ...], bare: frozenset[str]) -> type | None:
    """The class of the framework that a module is of, or a subclass of; None for a user's own.

    ``packages`` are those of the framework's layers ("torch.nn"), of whose classes those named in
    ``bare`` are no layers: the base class and containers. Neither are private ones.
    """
    for kind in type(module).__mro__:
        if kind.__module__.startswith(packages):
            is_layer = kind.__name__ not in bare and not kind.__name__.startswith("_")
            return kind if is_layer else None
    return None


def is_setting(name: str) -> bool:
    """Whether a parameter of a constructor says what the layer computes."""
    return name not in ABOUT_MEMORY and not name.endswith(START)
