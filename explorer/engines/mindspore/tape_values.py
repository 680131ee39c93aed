"""The values of a tape's tensors, read all at once when it has been walked: to read one is to wait
until it is computed.
"""

import re
from typing import Any

import msgspec

from explorer.engines.mindspore.draft import Draft, Slot
from explorer.engines.mindspore.net import array_of, dtype_of
from explorer.model.arrays import AnyArray
from explorer.model.graph import Output
from explorer.numeric.summaries import summarise_all

IN_PLACE = re.compile(r"Assign|Inplace|Scatter|_?[Cc]opy_?$")
"""Operators that change tensors that they are given."""

STATISTICS = {"BatchNorm": slice(3, 5)}
"""Operators that change some of their arguments alone: the running mean and variance."""

READ = "explorer.read"
"""A mark on tensors whose values were read before anything ran."""


def writes(op: str) -> slice | None:
    """Which of the tensors that it is given an operator may change."""
    return STATISTICS.get(op) or (slice(None) if IN_PLACE.search(op) else None)


class Values:
    """Tensors by the node and output that show them, until they are read; nothing at all unless
    ``wanted``.
    """

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self._held: dict[Slot, Any] = {}
        self._unsorted: list[Slot] = []
        self._by_storage: dict[int, list[Slot]] = {}
        self._known: dict[Slot, AnyArray] = {}

    def hold(self, number: int, tensors: list[Any], unwritten: tuple[int, ...]) -> None:
        """A node yields ``tensors``, of which those at ``unwritten`` have no value."""
        if self.wanted:
            slots = {
                (number, slot): tensor
                for slot, tensor in enumerate(tensors)
                if slot not in unwritten
            }
            self._held.update(slots)
            self._unsorted += slots

    def know(self, number: int, array: AnyArray) -> None:
        """The value of a node's only output, which may be overwritten from now on."""
        if self.wanted:
            self._known[number, 0] = array

    def freeze(self, tensors: list[Any]) -> None:
        """Read what shares memory with ``tensors``, which are about to be overwritten."""
        for slot in self._unsorted:
            self._by_storage.setdefault(_storage(self._held[slot]), []).append(slot)
        self._unsorted.clear()
        for tensor in tensors:
            for slot in self._by_storage.pop(_storage(tensor), ()):
                if slot not in self._known:
                    self._known[slot] = array_of(self._held[slot]).copy()

    def fill(self, draft: Draft) -> None:
        """Give the nodes of ``draft`` the values of what they yield."""
        keys = {
            slot: slot if slot in self._known else _elements(tensor)
            for slot, tensor in self._held.items()
        }
        first = {key: slot for slot, key in reversed(keys.items())}
        arrays = [
            self._known[slot] if slot in self._known else array_of(self._held[slot])
            for slot in first.values()
        ]
        names = [dtype_of(self._held[slot]) for slot in first.values()]
        summaries = dict(zip(first, summarise_all(arrays, names), strict=True))
        made: dict[int, list[Output]] = {
            number: list(draft.nodes[number].outputs) for number, _ in keys
        }
        for (number, slot), key in keys.items():
            plain = made[number][slot]
            made[number][slot] = Output(plain.shape, plain.dtype, summaries[key])
        for number, outputs in made.items():
            draft.nodes[number] = msgspec.structs.replace(
                draft.nodes[number], outputs=tuple(outputs)
            )


def _storage(tensor: Any) -> int:
    place: int = tensor.untyped_storage().data_ptr()
    return place


def _elements(tensor: Any) -> Any:
    """What two tensors share when they show the same elements in the same order."""
    return tensor.data_ptr(), tuple(tensor.shape), tensor.dtype, tuple(tensor.stride())
