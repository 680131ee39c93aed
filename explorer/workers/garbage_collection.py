"""Python's collector of reference cycles: pauses where it would find nothing, and what it skips."""

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

MANY = 100
"""So many modules that are imported together are a framework, or a part of one."""

YOUNG = 1
"""The generation up to which a search is quick: what was made since the last few ones."""


@contextmanager
def paused() -> Iterator[None]:
    """Keep the collector from running meanwhile.

    A capture, an import and PyTorch's compiler make many objects at once and keep nearly all of them,
    and every run of the collector looks through these and through all that a framework has loaded,
    in vain.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def settle() -> None:
    """Let no later search for garbage look at what there is by now.

    A framework brings 260,000 objects (MindSpore 2.10.0) to 520,000 (torch 2.13), and MindSpore
    searches before each compilation of a Cell.
    """
    gc.collect()  # what is garbage already would stay for good
    gc.freeze()


def imported(name: str) -> ModuleType:
    """A module; what a framework brings with it is settled without a search of its own."""
    if name in sys.modules:
        return sys.modules[name]
    gc.collect(YOUNG)  # what calls have just left behind would stay for good
    known = len(sys.modules)
    with paused():
        module = importlib.import_module(name)
        if len(sys.modules) >= known + MANY:
            gc.freeze()  # a fiftieth at most of what an import leaves is garbage
    return module
