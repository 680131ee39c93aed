"""Compares the gradients of one net in MindSpore and PyTorch, in tape style and in graph style.

``explore``, ``diff``, ``mend``, ``graph``, ``study`` and ``claims`` do what the shell commands do; ``nets``
names two nets of one's own package for them, and ``assert_same_gradients`` is for tests. ``record`` and
``recorder`` record steps of a program where it runs, ``load`` reads what they have written, and ``start``
gives a net what one of them started from.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.api import (
        assert_same_gradients,
        claims,
        diff,
        explore,
        graph,
        load,
        mend,
        nets,
        study,
    )
    from explorer.recording.blocks import record
    from explorer.recording.loops import recorder
    from explorer.recording.starts import start

__version__ = "0.2.0"

__all__ = [
    "assert_same_gradients",
    "claims",
    "diff",
    "explore",
    "graph",
    "load",
    "mend",
    "nets",
    "record",
    "recorder",
    "start",
    "study",
]

ELSEWHERE = {
    "record": "explorer.recording.blocks",
    "recorder": "explorer.recording.loops",
    "start": "explorer.recording.starts",
}
"""The functions that run in the user's own program, and the light module that they are in."""


def __getattr__(name: str) -> Any:
    """A function of the API, loaded on first use."""
    # The command and the workers import this package too, and do not need the API.
    if name in __all__:
        module = importlib.import_module(ELSEWHERE.get(name, "explorer.api"))
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
