"""Python's collector of reference cycles: paused where it would look in vain, told what stays."""

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

MANY = 100
"""So many modules that are imported together are a framework, or a part of one."""

YOUNGEST = 0
"""The generation that is searched quickly: what was made since the last search."""

NEW_OBJECTS = 20_000
"""How many objects more than before there are when a worker's collector runs; Python's own is 700.

PyTorch's compiler makes many that stay for a while: a sixth of a worker's time went into searches.
"""


def search_seldom() -> None:
    """Have this process's collector run where there are NEW_OBJECTS more than at its last run."""
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])


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
    gc.collect(YOUNGEST)  # what calls have just left behind would stay for good
    known = len(sys.modules)
    with paused():
        module = importlib.import_module(name)
        if len(sys.modules) >= known + MANY:
            gc.freeze()  # a fiftieth at most of what an import leaves is garbage
    return module
