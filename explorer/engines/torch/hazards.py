"""Hazards of running recorded operators in another order: shared memory and random numbers.

They are what the flow of tensors does not show.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from explorer.engines.torch.operators import draws_random_numbers
from explorer.engines.torch.tape_records import Origin, Record


class Hazards(NamedTuple):
    """The reads and orders to be kept when the operators of a run are put in another order.

    ``reads``: (output of a writer, number of a reader, place of its operand) where a read sees what
    was written through another tensor. ``orders``: (earlier, later) where a write must wait for a
    read or a write, or random numbers must be drawn in turn.
    """

    reads: tuple[tuple[Origin, int, int], ...]
    orders: tuple[tuple[int, int], ...]


def hazards(records: Sequence[Record], storages: Mapping[int, int]) -> Hazards:
    """Every hazard of a run.

    Only memory that is written to is looked at; ``storages`` tells the memory of a tensor by its
    ``id``.
    """
    finder = _Finder(set(last_writers(records, storages)), storages)
    for number, record in enumerate(records):
        if record.operator is None:
            continue
        finder.read(number, record)
        if record.written:
            finder.write(number, record)
        if draws_random_numbers(record.operator):
            finder.draw(number)
    return Hazards(tuple(finder.reads), tuple(finder.orders))


def last_writers(records: Sequence[Record], storages: Mapping[int, int]) -> dict[int, int]:
    """The number of the last record that wrote to each storage."""
    writers: dict[int, int] = {}
    for number, record in enumerate(records):
        for tensor in record.written:
            writers[storages[id(tensor)]] = number
    return writers


class _Finder:
    """The hazards so far of a run that is gone through in order."""

    def __init__(self, written: set[int], storages: Mapping[int, int]) -> None:
        # Dicts for their order.
        self.reads: dict[tuple[Origin, int, int], None] = {}
        self.orders: dict[tuple[int, int], None] = {}
        self._written = written
        self._storages = storages
        self._last_write: dict[int, tuple[int, Origin]] = {}
        self._readers: dict[int, list[int]] = {}
        self._last_draw: int | None = None

    def read(self, number: int, record: Record) -> None:
        """Note that a record has read the memory of its operands."""
        for place, tensor in enumerate(record.operands):
            storage = self._storages[id(tensor)]
            if storage not in self._written:
                continue
            if storage in self._last_write:
                writer, origin = self._last_write[storage]
                # A tensor that was made after the write says by itself that it comes later.
                if record.origins[place][0] < writer < number:
                    self.reads[origin, number, place] = None
            self._readers.setdefault(storage, []).append(number)

    def write(self, number: int, record: Record) -> None:
        """Note that a record has overwritten some of its operands."""
        for tensor, origin in zip(record.written, record.written_origins, strict=True):
            storage = self._storages[id(tensor)]
            before = self._readers.pop(storage, [])
            if storage in self._last_write:
                before.append(self._last_write[storage][0])
            for earlier in before:
                if earlier != number:
                    self.orders[earlier, number] = None
            self._last_write[storage] = number, origin

    def draw(self, number: int) -> None:
        """Note that a record has taken numbers from the random generator."""
        if self._last_draw is not None:
            self.orders[self._last_draw, number] = None
        self._last_draw = number
