"""Order that a recorded run keeps beyond the flow of tensors: by memory that several tensors share,
and by random numbers.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import torch

from explorer.engines.torch.tape_recorder import Record, Slot


class Hazards(NamedTuple):
    """``seen``: (slot of a writer, reader, argument) where a read sees what was written through
    another tensor.

    ``before``: (earlier, later) where a write must wait for a read or a write, or random numbers
    must be drawn in turn.
    """

    seen: tuple[tuple[Slot, int, int], ...]
    before: tuple[tuple[int, int], ...]


def hazards(records: Sequence[Record], memory: Mapping[int, int]) -> Hazards:
    """Every hazard of a run, looking only at memory that is written to; ``memory`` tells a tensor's
    storage by its ``id``.
    """
    written = set(last_writers(records, memory))
    seen: dict[tuple[Slot, int, int], None] = {}
    before: dict[tuple[int, int], None] = {}
    last: dict[int, tuple[int, Slot]] = {}
    readers: dict[int, list[int]] = {}
    drawn: int | None = None
    for number, record in enumerate(records):
        if record.func is None:
            continue
        for index, tensor in enumerate(record.given):
            there = memory[id(tensor)]
            if there in written:
                writer = last.get(there)
                if writer and record.reads[index][0] < writer[0] < number:
                    seen[writer[1], number, index] = None
                readers.setdefault(there, []).append(number)
        for tensor, slot in zip(record.changed, record.writes, strict=True):
            there = memory[id(tensor)]
            earlier = readers.pop(there, []) + ([last[there][0]] if there in last else [])
            before |= {(other, number): None for other in earlier if other != number}
            last[there] = number, slot
        if _draws(record.func):
            before |= {} if drawn is None else {(drawn, number): None}
            drawn = number
    return Hazards(tuple(seen), tuple(before))


def last_writers(records: Sequence[Record], memory: Mapping[int, int]) -> dict[int, int]:
    """The last record that wrote to each storage."""
    return {
        memory[id(tensor)]: number
        for number, record in enumerate(records)
        for tensor in record.changed
    }


@cache
def _draws(func: Any) -> bool:
    return torch.Tag.nondeterministic_seeded in func.tags
