"""Gradients of a program in PYNATIVE_MODE, seen as their forward ends and their backward begins and ends.

Every way into the tape from Python goes through one object, and so does every call of a compiled
function (2.7 to 2.10). Its methods are replaced on that object for a while.
"""

from collections.abc import Callable
from typing import Any, Protocol

from mindspore.common.api import _pynative_executor


class Watcher(Protocol):
    """What is called around the calls of the executor; none of these raises."""

    def forward_ends(self, function: Any, outputs: Any) -> None:
        """A function that will be differentiated has returned ``outputs``."""

    def pass_begins(self, function: Any, is_aux: bool) -> None:
        """Its gradient begins to be computed; of the first output alone if others are auxiliary."""

    def pass_ends(
        self, operation: Any, weights: Any, position: Any, args: Any, result: Any
    ) -> None:
        """It was computed: ``result``, by a GradOperation, of weights and of some arguments."""

    def compiled_starts(self, args: tuple[Any, ...]) -> Any:
        """A compiled function is called; what this returns is handed to compiled_ends()."""

    def compiled_ends(self, started: Any, result: Any) -> None:
        """It has returned ``result``."""


class WatchedExecutor:
    """Calls a watcher around what MindSpore's executor does; a context manager."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._before: dict[str, Any] = {}

    def __enter__(self) -> "WatchedExecutor":
        watched = {
            "end_graph": self._end_graph,
            "grad": self._grad,
            "grad_jit": self._grad_jit,
        }
        # Compiled calls may be watched beside this.
        self._before = {name: vars(_pynative_executor).get(name) for name in watched}
        for name, around in watched.items():
            setattr(_pynative_executor, name, around(getattr(_pynative_executor, name)))
        return self

    def __exit__(self, *error: object) -> None:
        for name, method in self._before.items():
            vars(_pynative_executor).pop(name, None)
            if method is not None:
                setattr(_pynative_executor, name, method)

    def _end_graph(self, original: Callable[..., None]) -> Callable[..., None]:
        def end_graph(function: Any, outputs: Any, *args: Any, **kwargs: Any) -> None:
            self._watcher.forward_ends(function, outputs)
            original(function, outputs, *args, **kwargs)

        return end_graph

    def _grad(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def grad(function: Any, operation: Any, weights: Any, position: Any, *args: Any) -> Any:
            # From 2.9 on, whether outputs are auxiliary comes before the arguments.
            first = next(iter(args), None)
            given = args[1:] if isinstance(first, bool) else args
            self._watcher.pass_begins(function, bool(getattr(operation, "has_aux", False)))
            result = None
            try:
                result = run_pass(original, function, operation, weights, position, *args)
            finally:
                self._watcher.pass_ends(operation, weights, position, given, result)
            return result

        return grad

    def _grad_jit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def grad_jit(*args: Any) -> Any:
            started = self._watcher.compiled_starts(args)
            result = original(*args)
            self._watcher.compiled_ends(started, result)
            return result

        return grad_jit


def run_pass(original: Callable[..., Any], *args: Any) -> Any:
    """What a pass returns; the frame of this call is below all that the pass calls."""
    return original(*args)


RUNS_PASS = run_pass.__code__
"""The code by whose frame a pass is recognised on the stack."""


def leaves_of(operation: Any, weights: Any, position: Any, args: Any) -> Any:
    """The tensors whose gradients an operation returns, nested as these are."""
    of_arguments, of_weights = named_parts(operation, weights, position, args)
    if of_arguments is None:
        return of_weights
    return of_arguments if of_weights is None else (of_arguments, of_weights)


def named_parts(operation: Any, weights: Any, position: Any, args: Any) -> tuple[Any, Any]:
    """What the parts of a gradient are of: the arguments, and the weights; None for a part it lacks.

    Each is a tensor, or a sequence of tensors, nested as the part is.
    """
    has_arguments = operation.get_all or getattr(operation, "get_by_position", False)
    of_weights = weights if operation.get_by_list else None
    if operation.get_all:
        return tuple(args), of_weights
    if has_arguments and isinstance(position, int):
        return args[position], of_weights
    if has_arguments:
        return tuple(args[place] for place in position), of_weights
    return (None if operation.get_by_list else args[0]), of_weights
