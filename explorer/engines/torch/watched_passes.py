"""Backward passes of a program, seen as they begin and end."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, NamedTuple

import torch
from torch.autograd import Variable


class Pass(NamedTuple):
    """A call of the autograd engine: what it starts from, and what it is to return gradients of.

    ``seeds`` are the cotangents of the ``heads``; ``inputs`` are empty where the gradients are accumulated
    into the leaves.
    """

    heads: Sequence[Any]
    seeds: Sequence[torch.Tensor | None]
    inputs: Sequence[torch.Tensor]


class WatchedEngine:
    """Stands in for PyTorch's autograd engine, and hands every call on to it."""

    def __init__(
        self,
        engine: Any,
        begins: Callable[[Pass], None],
        ends: Callable[[Pass, Any], None],
    ) -> None:
        self._engine = engine
        self._begins = begins
        self._ends = ends

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        """What the engine returns; the gradients of the inputs, or nothing."""
        watched = _pass(args, kwargs)
        self._begins(watched)
        result = None
        try:
            result = self._engine.run_backward(*args, **kwargs)
        finally:
            self._ends(watched, result)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def _pass(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Pass:
    """The pass that a call of run_backward() describes."""
    # tensors, grad_tensors, keep_graph, create_graph, inputs (torch 2.13)
    heads, seeds, _keep, _create, inputs = (*args, *(None,) * 5)[:5]
    if kwargs.get("accumulate_grad"):
        inputs = None
    return Pass(_sequence(heads), _sequence(seeds), _sequence(inputs))


def _sequence(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, (tuple, list)) else (value,)


class WatchedPasses:
    """Calls ``begins`` and ``ends`` around each backward pass; a context manager.

    Every way into autograd from Python goes through this one object (torch 2.13).
    """

    def __init__(self, begins: Callable[[Pass], None], ends: Callable[[Pass, Any], None]) -> None:
        self._begins = begins
        self._ends = ends
        self._engine: Any = None

    def __enter__(self) -> "WatchedPasses":
        self._engine = Variable._execution_engine
        Variable._execution_engine = WatchedEngine(self._engine, self._begins, self._ends)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        Variable._execution_engine = self._engine
