"""Where the steps of a program begin and end: the first module that runs, and an optimizer's update."""

from collections.abc import Callable
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

Module = torch.nn.Module


class StepStarts:
    """Calls ``begins`` before the first module of a step is called, and ``ends`` behind an update.

    What runs without gradients belongs to no step.
    """

    def __init__(self, begins: Callable[[], None], ends: Callable[[], None]) -> None:
        self._begins = begins
        self._ends = ends
        self._call: Any = None
        self._hook: Any = None

    def watch(self) -> None:
        """Wait for the next step."""
        call = self._call = Module.__call__

        def called(module: Any, *args: Any, **kwargs: Any) -> Any:
            if torch.is_grad_enabled():
                self._start()
            return call(module, *args, **kwargs)

        Module.__call__ = called
        self._hook = register_optimizer_step_post_hook(self._updated)

    def leave(self) -> None:
        """Wait for nothing more."""
        if self._call is not None:
            Module.__call__, self._call = self._call, None
        self._hook.remove()

    def _start(self) -> None:
        """Begin a step: until it ends, nothing is waited for but an update."""
        if self._call is not None:
            Module.__call__, self._call = self._call, None
        self._begins()
        # Behind the hook of the recorder, which has begun by now.
        self._hook.remove()
        self._hook = register_optimizer_step_post_hook(self._updated)

    def _updated(self, *_: Any) -> None:
        self.leave()
        self.watch()
        self._ends()
