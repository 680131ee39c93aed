"""Python's collector of reference cycles, paused while a capture makes many objects."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Keep the collector from running meanwhile.

    A capture makes many objects at once and keeps all of them, and every run of the collector looks
    through these and through all that a framework has loaded, in vain.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
