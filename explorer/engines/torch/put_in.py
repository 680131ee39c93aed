"""Other values in the places of those that an operator has just yielded."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import torch

from explorer.engines.nested import replaced

Values = Mapping[int, torch.Tensor | None]
"""The values that outputs of an operator get, by their number; None: zeros."""

NOTHING: Mapping[Any, Values] = MappingProxyType({})
"""Where every operator's values stay."""


def put_in(
    result: Any, values: Values, operands: Iterable[torch.Tensor], written: Iterable[torch.Tensor]
) -> Any:
    """The result of an operator with ``values`` in the places of some of its outputs.

    An output in memory of its own, and one that the operator wrote to (``written``), keeps its memory: what
    autograd saves of it are the new values. A view of an ``operand`` gets memory of its own, since the
    operand keeps its value.
    """
    storages = {tensor.untyped_storage()._cdata for tensor in operands}
    kept = {id(tensor) for tensor in written}
    remaining = iter(range(1 << 30))

    def change(output: Any) -> Any:
        if not isinstance(output, torch.Tensor):
            return output
        number = next(remaining)
        if number not in values:
            return output
        is_view = id(output) not in kept and output.untyped_storage()._cdata in storages
        return filled(_own(output) if is_view else output, values[number])

    return replaced(result, change)


def filled(tensor: torch.Tensor, value: torch.Tensor | None) -> torch.Tensor:
    """A tensor with the elements of a value in C order, or zeros."""
    with torch.no_grad():
        if value is None:
            return tensor.zero_()
        return tensor.copy_(value.reshape(tensor.shape))


def _own(view: torch.Tensor) -> torch.Tensor:
    """Memory like that of a view: with its strides, where no two elements of it share memory."""
    if 0 in view.stride():
        return torch.empty_like(view, memory_format=torch.contiguous_format)
    return torch.empty_strided(view.shape, view.stride(), dtype=view.dtype, device=view.device)
