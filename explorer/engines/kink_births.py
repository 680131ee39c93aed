"""The kinks that a net crosses when a leaf is varied: where slopes part that came in together."""

from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from explorer.numeric.differences import KINK
from explorer.numeric.slopes import STEP

ROUNDING = 64 * 2.0**-53
"""The rounding of an element, as a share of it."""


class Computed(NamedTuple):
    """An operator's call: its tensors, and the values of its outputs."""

    operator: Any
    inputs: tuple[torch.Tensor, ...]
    outputs: tuple[torch.Tensor, ...]
    values: tuple[torch.Tensor, ...]


class OperatorValues(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Records what each operator of a run computes."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Computed] = []

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        inputs = _tensors((args, kwargs))
        outputs = _tensors(result)
        values = tuple(output.detach().clone() for output in outputs)
        # The tensors are held, so that no other one gets the identity of one of them.
        self.calls.append(Computed(func, inputs, outputs, values))
        return result


def _tensors(tree: Any) -> tuple[torch.Tensor, ...]:
    return tuple(leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor))


def births(middle: OperatorValues, plus: OperatorValues, minus: OperatorValues) -> int | None:
    """How many elements have a kink that no input of their operator has, when a leaf is varied.

    The runs are those without variation and to either side. None where they took different ways.
    """
    parted: set[int] = set()
    count = 0
    if not len(middle.calls) == len(plus.calls) == len(minus.calls):
        return None
    for call, up, down in zip(middle.calls, plus.calls, minus.calls, strict=True):
        if not (call.operator == up.operator == down.operator):
            return None
        # Before the outputs are looked at: one may be an input that was changed in place.
        is_fresh = parted.isdisjoint(map(id, call.inputs))
        sides = zip(call.outputs, call.values, up.values, down.values, strict=True)
        for output, *values in sides:
            number = _kinks(*values)
            if number is None:
                return None
            if number:
                parted.add(id(output))
            if is_fresh:
                count += number
    return count


def _kinks(value: torch.Tensor, plus: torch.Tensor, minus: torch.Tensor) -> int | None:
    """The number of elements whose slopes to either side part."""
    if not value.shape == plus.shape == minus.shape:
        return None
    if not value.is_floating_point():
        return 0
    parting = (plus + minus - 2 * value).abs()
    size = torch.maximum((plus - value).abs(), (minus - value).abs())
    least = KINK * size.clamp(min=STEP) + ROUNDING * value.abs()
    return int((parting > least).sum())
