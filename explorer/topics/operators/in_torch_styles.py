"""The style and the device of PyTorch's measurements of operators.

The styles are eager functions and AOTAutograd's graph of them.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import guards

from explorer.model.measurement import Ask, Found
from explorer.workers.garbage_collection import paused

# A second call with other shapes is not the first one made dynamic.
torch._dynamo.config.automatic_dynamic_shapes = False


def placed(measuring: Callable[[Ask], Found]) -> Callable[[Ask], Found]:
    """A measuring function whose tensors and layers are made on the device asked for."""

    @functools.wraps(measuring)
    def run(ask: Ask) -> Found:
        if ask.device == "cpu":
            return measuring(ask)
        with torch.device(ask.device):
            return measuring(ask)

    return run


def styled(function: Any, style: str) -> Any:
    """``function`` itself for the tape, or compiled to AOTAutograd's joint graph, run as it is."""
    if style == "tape":
        return function
    # What was compiled before must not count: dynamo gives up on code that is compiled many times.
    torch.compiler.reset()
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)

    def run(*operands: Any) -> Any:
        with _guards_not_timed(), paused():
            return compiled(*operands)

    return run


@contextlib.contextmanager
def _guards_not_timed() -> Iterator[None]:
    """Compile without a look at how long the guards of what is compiled take.

    Dynamo (torch 2.13) tells its log so of all that it compiles, and empties the processor's caches before:
    a quarter of the time that a small function takes. Older versions (2.4) do not look.
    """
    timing = getattr(guards, "profile_guard_manager", None)
    if timing is None:
        yield
        return
    guards.profile_guard_manager = lambda *_: 0.0
    try:
        yield
    finally:
        guards.profile_guard_manager = timing
