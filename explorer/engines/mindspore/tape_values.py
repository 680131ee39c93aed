"""A graph whose nodes yield tensors, the values of which are all read at the end.

To read a tensor is to wait until it is computed.
"""

from collections.abc import Iterable
from typing import Any

from explorer.engines.capture.builder import GraphBuilder, Slot, shapes
from explorer.engines.mindspore.net import array_of, dtype_of, tensor_like
from explorer.model.arrays import AnyArray, Summary
from explorer.model.graph import NodeKind, Output, Phase
from explorer.numeric.summaries import summarise_all


class TensorGraph(GraphBuilder):
    """A graph whose nodes yield tensors; without ``values`` it shows just their shapes."""

    def __init__(self, values: bool) -> None:
        super().__init__()
        self.has_values = values
        self._held: dict[Slot, Any] = {}
        self._unread: dict[Slot, Any] = {}
        self._unsorted: list[Slot] = []
        self._by_storage: dict[int, list[Slot]] = {}
        self._known: dict[Slot, AnyArray] = {}

    def add_tensors(
        self,
        op: str,
        kind: NodeKind,
        phase: Phase,
        inputs: tuple[Slot | None, ...],
        tensors: list[Any],
        unwritten: tuple[int, ...] = (),
        **fields: Any,
    ) -> int:
        """A new node fed by ``inputs`` that yields ``tensors``; its number.

        ``unwritten`` are the numbers of outputs that hold no result.
        """
        number = self.add(op, kind, phase, inputs, outputs=shapes(tensors), **fields)
        if self.has_values:
            for output, tensor in enumerate(tensors):
                if output in unwritten:
                    self._unread[number, output] = tensor
                    continue
                self._held[number, output] = tensor
                self._unsorted.append((number, output))
        return number

    def set_value(self, number: int, array: AnyArray) -> None:
        """Note the value of a node's only output, which may be overwritten from now on."""
        if self.has_values:
            self._known[number, 0] = array

    def keep_values(self, tensors: list[Any]) -> None:
        """Read what shares memory with ``tensors``, which are about to be overwritten."""
        # Storages are looked up only here: most nets write to nothing.
        for slot in self._unsorted:
            self._by_storage.setdefault(_storage(self._held[slot]), []).append(slot)
        self._unsorted.clear()
        for tensor in tensors:
            for slot in self._by_storage.pop(_storage(tensor), ()):
                if slot not in self._known:
                    self._known[slot] = array_of(self._held[slot]).copy()

    def read_values(self) -> None:
        """Give every node the values of what it yields."""
        # Many nodes show the same elements, as outputs do: each is read and summarised once.
        elements: dict[Slot, Any] = {}
        unique: dict[Any, Slot] = {}
        for slot, tensor in self._held.items():
            # A tensor that was overwritten shows elements which no other slot does.
            elements[slot] = slot
            if slot not in self._known:
                elements[slot] = _elements(tensor)
            unique.setdefault(elements[slot], slot)
        summaries = dict(zip(unique, self._summaries(unique.values()), strict=True))

        outputs = {number: list(self.nodes[number].outputs) for number, _ in elements}
        for (number, output), key in elements.items():
            plain = outputs[number][output]
            outputs[number][output] = Output(plain.shape, plain.dtype, summaries[key])
        for number, complete in outputs.items():
            self.nodes[number].outputs = tuple(complete)

    def let_go(self) -> None:
        """Let go of the tensors."""
        self._held.clear()
        self._unread.clear()
        self._known.clear()

    # For proofs

    def recorded_values(self) -> dict[Slot, Any]:
        """What every slot was seen to hold, as an array where it was overwritten."""
        return {**self._held, **self._known}

    def is_overwritten(self, slot: Slot) -> bool:
        """Whether the memory of a slot was written to later."""
        return slot in self._known

    def tensor_of(self, slot: Slot) -> Any:
        """A tensor of its own that holds what a slot did; None where that is not known."""
        tensor = self._held.get(slot, self._unread.get(slot))
        if tensor is None:
            return None
        known = self._known.get(slot)
        if known is None:
            known = array_of(tensor)
        return tensor_like(known, tensor.dtype)

    def _summaries(self, slots: Iterable[Slot]) -> list[Summary]:
        slots = list(slots)
        arrays = list(map(self._array, slots))
        return summarise_all(arrays, [dtype_of(self._held[slot]) for slot in slots])

    def _array(self, slot: Slot) -> AnyArray:
        known = self._known.get(slot)
        if known is None:
            return array_of(self._held[slot])
        return known


def _storage(tensor: Any) -> int:
    address: int = tensor.untyped_storage().data_ptr()
    return address


def _elements(tensor: Any) -> Any:
    """The key that two tensors share when they show the same elements in the same order."""
    return tensor.data_ptr(), tuple(tensor.shape), tensor.dtype, tuple(tensor.stride())
