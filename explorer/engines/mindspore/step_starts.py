"""Where the steps of a program begin and end: the first forward for a gradient, and an optimizer's update.

A compiled gradient is a forward for one; one that updates parameters too is a whole step.
"""

from collections.abc import Callable
from typing import Any

import mindspore as ms
from mindspore.common.api import _pynative_executor

from explorer.engines.mindspore.compiled_calls import COMPILED_CALLS

START = "new_graph"
"""What MindSpore's executor runs before a forward that will be differentiated (2.7 to 2.10)."""


class StepStarts:
    """Calls ``begins`` before the forward of a step runs, and ``ends`` behind an update."""

    def __init__(self, begins: Callable[[], None], ends: Callable[[], None]) -> None:
        self._begins = begins
        self._ends = ends
        self._kinds = (ms.nn.Optimizer, ms.experimental.optim.Optimizer)

    def watch(self) -> None:
        """Wait for the next step."""
        original = getattr(_pynative_executor, START)

        def new_graph(*args: Any, **kwargs: Any) -> None:
            self._begins()
            original(*args, **kwargs)

        setattr(_pynative_executor, START, new_graph)
        COMPILED_CALLS.watch(self._begins, self._ends)
        for kind in self._kinds:
            kind.__call__ = self._updating(kind.__call__)

    def leave(self) -> None:
        """Wait for nothing more."""
        vars(_pynative_executor).pop(START, None)
        COMPILED_CALLS.leave()
        for kind in self._kinds:
            if "__call__" in vars(kind):
                del kind.__call__

    def _updating(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def update(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            result = call(optimizer, *args, **kwargs)
            self._ends()
            return result

        return update
