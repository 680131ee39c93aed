"""Order that a recorded run keeps beyond the flow of tensors: by memory that several tensors share, and by random numbers."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch

from explorer.engines.torch_record import Record, Slot, tensors_in, writes_of


class Hazards(NamedTuple):
    """``seen``: (slot of a writer, reader, argument) where a read sees what was written through another tensor.

    ``before``: (earlier, later) where a write must wait for a read or a write, or random numbers must be drawn in turn.
    """

    seen: tuple[tuple[Slot, int, int], ...]
    before: tuple[tuple[int, int], ...]


def hazards(records: Sequence[Record]) -> Hazards:
    """Every hazard of a run; only memory that somebody writes to is looked at."""
    written = {there for record in records for there in _written(record)}
    seen: dict[tuple[Slot, int, int], None] = {}
    before: dict[tuple[int, int], None] = {}
    last: dict[int, tuple[int, Slot]] = {}
    readers: dict[int, list[int]] = {}
    drawn: int | None = None
    for number, record in enumerate(records):
        if record.func is None:
            continue
        for index, (tensor, slot) in enumerate(zip(record.given, record.reads, strict=True)):
            there = place(tensor)
            if there in written:
                writer = last.get(there)
                if writer and slot[0] < writer[0] < number:
                    seen[writer[1], number, index] = None
                readers.setdefault(there, []).append(number)
        for there, slot in zip(_written(record), record.writes, strict=True):
            earlier = readers.pop(there, []) + ([last[there][0]] if there in last else [])
            before |= {(other, number): None for other in earlier if other != number}
            last[there] = number, slot
        if torch.Tag.nondeterministic_seeded in record.func.tags:
            before |= {} if drawn is None else {(drawn, number): None}
            drawn = number
    return Hazards(tuple(seen), tuple(before))


def last_writers(records: Sequence[Record]) -> dict[int, int]:
    """The last record that wrote to each memory, keyed by ``place``."""
    return {there: number for number, record in enumerate(records) for there in _written(record)}


def _written(record: Record) -> Iterator[int]:
    if record.writes:
        places, names = writes_of(record.func)
        given = [record.args[i] for i in places if i < len(record.args)] + [record.kwargs[n] for n in names if n in record.kwargs]
        yield from (place(tensor) for tensor in tensors_in(given))


def place(tensor: torch.Tensor) -> int:
    """The identity of a tensor's memory, which views share."""
    there: int = tensor.untyped_storage()._cdata
    return there
