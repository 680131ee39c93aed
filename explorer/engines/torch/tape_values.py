"""The outputs that nodes show, each value summarised once however many nodes show it."""

from collections.abc import Iterable
from typing import Any

import torch

from explorer.engines.torch.net import array_of, dtype_of
from explorer.model.arrays import Summary
from explorer.model.graph import Output
from explorer.numeric.summaries import batches, summarise_rows


class NodeOutputs:
    """The outputs of nodes that yield one of ``tensors``, which somebody holds; without ``values``
    just shape and dtype.
    """

    def __init__(self, tensors: Iterable[torch.Tensor], values: bool) -> None:
        by_id = {id(tensor): tensor for tensor in tensors}
        key_of = _elements if values else _form
        self._keys = {known: key_of(tensor) for known, tensor in by_id.items()}
        unique = {self._keys[known]: tensor for known, tensor in by_id.items()}
        summaries = _summaries(unique) if values else {}
        self._outputs = {}
        for key, tensor in unique.items():
            self._outputs[key] = Output(tuple(tensor.shape), dtype_of(tensor), summaries.get(key))

    def of(self, tensor: torch.Tensor) -> Output:
        """The record of one of the tensors."""
        return self._outputs[self._keys[id(tensor)]]


def _summaries(tensors: dict[Any, torch.Tensor]) -> dict[Any, Summary]:
    """Those of one shape, dtype and device go through PyTorch and numpy together."""
    groups: dict[Any, list[Any]] = {}
    for key in tensors:
        groups.setdefault(key[:3], []).append(key)
    summaries: dict[Any, Summary] = {}
    with torch.no_grad():
        for (shape, _, _), keys in groups.items():
            size = shape.numel()
            for batch in batches(keys, size):
                joined = torch.stack([tensors[key] for key in batch])
                rows = array_of(joined).reshape(len(batch), size)
                shapes = [tuple(shape)] * len(batch)
                summaries.update(
                    zip(batch, summarise_rows(rows, shapes, dtype_of(joined)), strict=True)
                )
    return summaries


def _form(tensor: torch.Tensor) -> Any:
    return tensor.shape, tensor.dtype


def _elements(tensor: torch.Tensor) -> Any:
    """What two tensors share when they show the same elements in the same order."""
    return (
        tensor.shape,
        tensor.dtype,
        tensor.device,
        tensor.data_ptr(),
        tensor.stride(),
        tensor.is_neg(),
    )
