"""The outputs that nodes show, each value summarised once however many nodes show it."""

from collections.abc import Iterable
from typing import Any

import torch

from explorer.engines.torch.net import array_of, dtype_of
from explorer.model.arrays import Summary
from explorer.model.graph import Output
from explorer.numeric.summaries import batches, summarise_rows


class NodeOutputs:
    """The outputs of nodes that yield one of ``tensors``.

    The caller holds the tensors. Without ``values`` an output has just shape and dtype.
    """

    def __init__(self, tensors: Iterable[torch.Tensor], values: bool) -> None:
        key_of = _elements if values else _form
        # A key costs several calls into PyTorch: it is made once for each tensor.
        self._keys: dict[int, Any] = {}
        unique: dict[Any, torch.Tensor] = {}
        for tensor in tensors:
            if id(tensor) not in self._keys:
                key = self._keys[id(tensor)] = key_of(tensor)
                unique[key] = tensor

        summaries = _summaries(unique) if values else {}
        self._outputs: dict[Any, Output] = {}
        for key, tensor in unique.items():
            self._outputs[key] = Output(tuple(tensor.shape), dtype_of(tensor), summaries.get(key))

    def of(self, tensor: torch.Tensor) -> Output:
        """The record of one of the tensors."""
        return self._outputs[self._keys[id(tensor)]]


def _summaries(tensors: dict[Any, torch.Tensor]) -> dict[Any, Summary]:
    """The summaries of tensors; those of one shape, dtype and device are made together."""
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
                of_batch = summarise_rows(rows, shapes, dtype_of(joined))
                summaries.update(zip(batch, of_batch, strict=True))
    return summaries


def _form(tensor: torch.Tensor) -> Any:
    return tensor.shape, tensor.dtype


def _elements(tensor: torch.Tensor) -> Any:
    """A key that two tensors share when they show the same elements in the same order."""
    return (
        tensor.shape,
        tensor.dtype,
        tensor.device,
        tensor.data_ptr(),
        tensor.stride(),
        tensor.is_neg(),
        tensor.is_conj(),
    )
