"""What optax's transformations hold for parameters, as they make it in a step, and what makes it."""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from explorer.engines.jax.optimizers import STATE, Link, links_of

OPTAX = "optax"

UPDATE = "update_fn"
"""What optax calls the function of a transformation that makes updates (0.2)."""

CHAINED = "update_fns"
"""What that of a chain calls those that it is made of."""


@contextmanager
def watched_states(note: Callable[[Any, FrameType], None]) -> Iterator[None]:
    """Meanwhile ``note`` gets each state of optax's that is made, and the call that makes it."""
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


def _watched(original: Any, note: Callable[[Any, FrameType], None]) -> Any:
    create = original.__func__ if isinstance(original, staticmethod) else original

    @functools.wraps(create)
    def made(kind: Any, *args: Any, **kwargs: Any) -> Any:
        state = create(kind, *args, **kwargs)
        note(state, sys._getframe(1))
        return state

    return staticmethod(made)


def optimizer_of(call: FrameType) -> list[Link]:
    """The chain of transformations whose update has made a state; none where it is not made by one."""
    found: list[Link] = []
    frame: FrameType | None = call
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == OPTAX:
        if frame.f_code.co_name == UPDATE and CHAINED in frame.f_locals:
            found = links_of(frame.f_locals[CHAINED])
        frame = frame.f_back
    return found
