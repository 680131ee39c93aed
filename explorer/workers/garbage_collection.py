"""Python's collector of reference cycles: paused where it would look in vain, told what stays."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Keep the collector from running meanwhile.

    A capture and an import make many objects at once and keep nearly all of them, and every run of
    the collector looks through these and through all that a framework has loaded, in vain.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def settle() -> None:
    """Let no later search for garbage look at what there is by now, which stays for good.

    A framework brings 260,000 objects (MindSpore 2.10.0) to 520,000 (torch 2.13), of which at most a
    fiftieth is garbage, and MindSpore searches before each compilation of a Cell.
    """
    gc.freeze()
