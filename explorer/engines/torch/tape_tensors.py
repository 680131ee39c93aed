"""The tensors of a recording: which operator made each, and which share memory."""

import functools
import weakref
from collections.abc import Sequence
from typing import Any

import torch

from explorer.engines.torch.operators import EMPTY
from explorer.engines.torch.tape_records import OperatorRecord, Origin


class TensorOrigins:
    """The origins of all tensors of a recording, and the memory that they lie in.

    ``origins`` and ``storages`` (addresses of PyTorch's storage objects) are keyed by the ``id`` of a
    tensor. All tensors are held until this object is dropped, so that an ``id`` stands for one
    tensor throughout; the few that may not be held are forgotten when they go.
    """

    def __init__(self, records: Sequence[OperatorRecord]) -> None:
        self.origins: dict[int, Origin] = {}
        self.storages: dict[int, int] = {}
        self._records = records
        self._in_storage: dict[int, list[Origin]] = {}
        self._held: list[torch.Tensor] = []
        self._unheld: dict[int, Any] = {}

    def hold(self, number: int, tensors: list[torch.Tensor]) -> None:
        """Note that record ``number`` made ``tensors``."""
        for output, tensor in enumerate(tensors):
            storage = _storage(tensor)
            self.origins[id(tensor)] = number, output
            self.storages[id(tensor)] = storage
            self._in_storage.setdefault(storage, []).append((number, output))
        self._held += tensors

    def hold_aliases(self, number: int) -> None:
        """Note what record ``number`` made, but keep aliases in the place of its outputs.

        AccumulateGrad clones a gradient that is referenced elsewhere, and takes it over as it is
        otherwise (torch 2.13): holding it would add an operator that a plain run does not have.
        """
        outputs = self._records[number].outputs
        originals = list(outputs)
        outputs[:] = [tensor.detach() for tensor in originals]
        self.hold(number, outputs)
        for output, tensor in enumerate(originals):
            key = id(tensor)
            self.origins[key] = number, output
            self.storages[key] = _storage(tensor)
            # Only weakly: the id may be another tensor's as soon as this one is gone.
            forget = functools.partial(_forget, weakref.ref(self), key)
            self._unheld[key] = weakref.ref(tensor, forget)

    def same_elements(self, tensor: torch.Tensor) -> Origin | None:
        """The origin of a recorded tensor that shows the same elements as ``tensor``, or None.

        No operator was seen to make ``tensor``, and both lie in the same memory. From now on the
        origin is that of ``tensor`` too.
        """
        storage = _storage(tensor)
        for origin in reversed(self._in_storage.get(storage, ())):
            number, output = origin
            if shows_the_same(self._records[number].outputs[output], tensor):
                self.origins[id(tensor)] = origin
                self.storages[id(tensor)] = storage
                self._held.append(tensor)
                return origin
        return None

    def keep_values(self, tensor: torch.Tensor) -> None:
        """Copy what was recorded in the memory of ``tensor``, which is about to be overwritten."""
        storage = _storage(tensor)
        for number, output in self._in_storage.get(storage, ()):
            record = self._records[number]
            shown = record.outputs[output]
            if record.op not in EMPTY and self.storages.get(id(shown)) == storage:
                record.outputs[output] = shown.clone()  # autograd is off inside a dispatch mode
        self._in_storage[storage] = []

    def forget(self, key: int) -> None:
        """Forget a tensor that is gone, by its former ``id``."""
        del self._unheld[key], self.origins[key], self.storages[key]


def _forget(tensors: "weakref.ref[TensorOrigins]", key: int, _: Any) -> None:
    # Only weakly: they hold whoever calls this, and would wait for Python's collector.
    known = tensors()
    if known is not None:
        known.forget(key)


def _storage(tensor: torch.Tensor) -> int:
    address: int = tensor.untyped_storage()._cdata
    return address


def shows_the_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors show the same memory, element by element."""
    return bool(
        one.shape == other.shape
        and one.stride() == other.stride()
        and one.data_ptr() == other.data_ptr()
    )
