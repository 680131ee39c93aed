"""How a program says that what it found is not right: by an AssertionError."""

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np


def close(found: Any, right: Any, tolerance: float = 1e-5) -> None:
    """Raises unless both have one shape and the same numbers, to a share of the greatest."""
    ours, theirs = array(found), array(right)
    assert ours.shape == theirs.shape, f"{ours.shape} against {theirs.shape}"
    allowed = tolerance * max(1.0, float(np.abs(theirs).max(initial=0.0)))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed)


def close_all(found: Any, right: Any) -> None:
    """Raises unless results are nested in tuples alike, and close at every place."""
    if not isinstance(right, tuple):
        close(found, right)
        return
    assert isinstance(found, tuple), f"{found} against {right}"
    for part, right_part in zip(found, right, strict=True):
        close_all(part, right_part)


def array(value: Any) -> Any:
    """The numbers of a tensor of either framework, or of lists, in float64."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    return np.asarray(value, np.float64)


def raises(kinds: tuple[type[Exception], ...], call: Callable[[], Any]) -> str:
    """The text of what the call raises; fails where it raises nothing of these kinds."""
    try:
        call()
    except kinds as error:
        return str(error)
    raise AssertionError(f"raises none of {[kind.__name__ for kind in kinds]}")


def reproducer(name: str) -> ModuleType:
    """The program of a surprise, whose code is advice: it is run at other numbers than its own."""
    return importlib.import_module(name)
