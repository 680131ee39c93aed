"""What optax's transformations hold for parameters, as they make it in a step."""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from explorer.engines.jax.optimizers import STATE

OPTAX = "optax"


@contextmanager
def watched_states(note: Callable[[Any], None]) -> Iterator[None]:
    """Meanwhile ``note`` gets each state of optax's that is made."""
    kinds = list(_kinds())
    originals = [vars(kind)["__new__"] for kind in kinds]
    for kind, original in zip(kinds, originals, strict=True):
        kind.__new__ = _watched(original, note)
    try:
        yield
    finally:
        for kind, original in zip(kinds, originals, strict=True):
            kind.__new__ = original


def _kinds() -> Iterator[Any]:
    """The classes of optax's states: records with fields that PyTorch has too."""
    optax = sys.modules.get(OPTAX)
    for kind in {id(kind): kind for kind in vars(optax).values()}.values() if optax else ():
        if isinstance(kind, type) and not set(getattr(kind, "_fields", ())).isdisjoint(STATE):
            yield kind


def _watched(original: Any, note: Callable[[Any], None]) -> Any:
    create = original.__func__ if isinstance(original, staticmethod) else original

    @functools.wraps(create)
    def made(kind: Any, *args: Any, **kwargs: Any) -> Any:
        state = create(kind, *args, **kwargs)
        note(state)
        return state

    return staticmethod(made)
