"""Values through which a net lets no gradient pass, held while its inputs and weights are varied."""

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch
from torch.autograd import Function
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

STOPPING: frozenset[Any] = frozenset(
    {
        torch.detach,
        torch.detach_,
        torch.Tensor.detach,
        torch.Tensor.detach_,
        torch.Tensor.data.__get__,
        torch.Tensor.item,
        torch.Tensor.tolist,
        torch.Tensor.numpy,
        torch.Tensor.__float__,
    }
)
"""The functions of PyTorch (2.13) that cut a value off from the tape."""


IN_PLACE = frozenset({torch.detach_, torch.Tensor.detach_})
"""Those of them that cut off the tensor itself, and return it."""

_APPLY = Function.__dict__["apply"]
"""PyTorch's own ``Function.apply``, as the class holds it."""


class StoppedValues(TorchFunctionMode):  # type: ignore[misc]  # torch is untyped here
    """Gives a net, at every run, the stopped values of its first run.

    They are what ``detach`` and its like return, and whatever is computed under ``torch.no_grad``.
    A derivative takes them for constants; without this a difference of two runs would not. The
    forward of an ``autograd.Function`` runs without gradients too, but nothing is stopped there: its
    backward is what is to be checked. They are known by their order, so that each run begins with
    ``rewind``.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: list[Any] = []
        self._place = 0
        self._functions = 0

    def __enter__(self) -> "StoppedValues":

        def applied(kind: Any, *args: Any, **kwargs: Any) -> Any:
            return self._applied(kind, *args, **kwargs)

        # A mode sees what a Function computes, and not the Function (torch 2.13). A
        # function, since in Python 3.10 a classmethod of a bound method does not get the class.
        Function.apply = classmethod(applied)
        entered: StoppedValues = super().__enter__()
        return entered

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        Function.apply = _APPLY

    @property
    def has_any(self) -> bool:
        """Whether a run has stopped a value."""
        return self.count > 0

    @property
    def count(self) -> int:
        """How many values a run has stopped."""
        return len(self._held)

    def rewind(self) -> None:
        """A new run of the net begins."""
        self._place = 0

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        value = func(*args, **(kwargs or {}))
        if self._functions:
            return value
        if func in IN_PLACE:
            with torch.no_grad():
                value.data = self._as_at_first(value.data)
            return value
        is_stopped = func in STOPPING or not torch.is_grad_enabled()
        if is_stopped and not _is_in_forward_of_function():
            return self._all_as_at_first(value)
        return value

    def _applied(self, kind: Any, *args: Any, **kwargs: Any) -> Any:
        """An autograd.Function of some ``kind`` is applied."""
        self._functions += 1
        try:
            value = _APPLY.__get__(None, kind)(*args, **kwargs)
        finally:
            self._functions -= 1
        is_stopped = not (self._functions or torch.is_grad_enabled())
        return self._all_as_at_first(value) if is_stopped else value

    def _all_as_at_first(self, value: Any) -> Any:
        """The same for each of several tensors that a function returns."""
        if any(map(torch.is_tensor, tree_leaves(value))):
            return tree_map_only(torch.Tensor, self._as_at_first, value)
        return self._as_at_first(value)

    def _as_at_first(self, value: Any) -> Any:
        """The stopped value of the first run that takes the place of ``value``."""
        place, self._place = self._place, self._place + 1
        if place == len(self._held):
            self._held.append(_copy(value))
        held = self._held[place] if place < len(self._held) else value
        # A net that takes another way than at first stops other values: these stay as they are.
        return _copy(held) if _are_alike(held, value) else value


def _is_in_forward_of_function() -> bool:
    """Whether the forward of an autograd.Function is running.

    Of a method that was bound before, as in ``square = Square.apply``, there is no
    other sign.
    """
    forwards = _forwards(Function)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in forwards:
            return True
        frame = frame.f_back
    return False


def _forwards(kind: type[Any]) -> set[CodeType]:
    """The code of each forward that a kind of Function and those below it define."""
    codes: set[CodeType] = set()
    for below in kind.__subclasses__():
        codes |= _forwards(below)
        code = getattr(below.forward, "__code__", None)
        if code is not None and below.forward is not Function.forward:
            codes.add(code)
    return codes


def _copy(value: Any) -> Any:
    """A value that shares no memory with what it was made of."""
    return value.clone() if isinstance(value, torch.Tensor) else value


def _are_alike(held: Any, value: Any) -> bool:
    if isinstance(held, torch.Tensor) and isinstance(value, torch.Tensor):
        return bool(held.shape == value.shape and held.dtype == value.dtype)
    return type(held) is type(value)
