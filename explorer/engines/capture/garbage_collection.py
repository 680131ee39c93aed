"""Python's collector of reference cycles, which looks through all that a framework has loaded each
time it runs.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Keep the collector from running meanwhile; a capture makes many objects at once, all of which
    it keeps.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
