"""What a graph shows of its tensors, each value summarised once however many nodes show it."""

from collections.abc import Iterable
from typing import Any

import torch

from explorer.arrays import summarise_all
from explorer.engines.torch_net import array_of, dtype_of
from explorer.graph import Output


class Shown:
    """The outputs of nodes that yield one of ``tensors``, which are all held; without ``values`` just shape and dtype."""

    def __init__(self, tensors: Iterable[torch.Tensor], values: bool) -> None:
        self._key = _elements if values else _form
        unique = {self._key(tensor): tensor for tensor in tensors}
        held, names = list(unique.values()), [dtype_of(tensor) for tensor in unique.values()]
        summaries = summarise_all([array_of(tensor) for tensor in held], names) if values else [None] * len(held)
        self._outputs = {
            key: Output(tuple(tensor.shape), name, summary)
            for (key, tensor), name, summary in zip(unique.items(), names, summaries, strict=True)
        }

    def of(self, tensor: torch.Tensor) -> Output:
        """The record of one of the tensors."""
        return self._outputs[self._key(tensor)]


def _form(tensor: torch.Tensor) -> Any:
    return tensor.shape, tensor.dtype


def _elements(tensor: torch.Tensor) -> Any:
    """What two tensors share when they show the same elements in the same order."""
    return tensor.data_ptr(), tensor.shape, tensor.dtype, tensor.stride(), tensor.is_neg(), tensor.device
