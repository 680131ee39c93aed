"""The records of a tape's operators as they ran, and what forbids to run them in another order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from explorer.engines.nested import replaced
from explorer.engines.source_lines import Line
from explorer.engines.torch.operators import draws_random_numbers, tensors_in
from explorer.model.graph import NodeKind, Phase

Origin = tuple[int, int]
"""The origin of a tensor: the number of a record and that of its output, both from 0."""


@dataclass(slots=True)
class OperatorRecord:
    """One operator as it ran, or (``operator`` None) a tensor that was there before.

    ``op`` is the operator's name, or the kind of such a tensor; ``kind`` distinguishes sums that the autograd
    engine makes between two nodes ("accumulate"), and operators that made the seed of a pass or
    zeros for it ("constant"), from what the net requested ("op"). ``operands`` are the tensors among
    the arguments, ``origins`` says where they come from, ``written`` which of them it changed, and
    ``written_origins`` where these come from since. ``outputs`` are the tensors that it made, with
    the values that they had then. ``tape`` and ``sequence`` are the name and the sequence number of
    the tape node that ran it; if that is an AccumulateGrad node, ``leaf`` is where its leaf comes
    from. ``saved_bytes`` counts what the tape node that it made keeps for backward.
    """

    operator: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    phase: Phase
    origins: list[Origin]
    operands: list[torch.Tensor]
    op: str
    outputs: list[torch.Tensor] = field(default_factory=list)
    kind: NodeKind = "op"
    name: str = ""
    written: Sequence[torch.Tensor] = ()
    written_origins: Sequence[Origin] = ()
    scope: str = ""
    lines: tuple[Line, ...] = ()
    tape: str = ""
    sequence: int | None = None
    leaf: Origin | None = None
    saved_bytes: int = 0

    @property
    def is_leaf(self) -> bool:
        """Whether it stands for an input or a parameter."""
        return self.kind in ("input", "parameter")

    def run_again(self, operands: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The outputs of the operator on ``operands`` in the place of those recorded."""
        # Operands are in the order in which gather_tensors() met them: args first, then kwargs.
        remaining = iter(operands)

        def fill(value: Any) -> Any:
            return next(remaining) if isinstance(value, torch.Tensor) else value

        args, kwargs = replaced(self.args, fill), replaced(self.kwargs, fill)
        return tensors_in(self.operator(*args, **kwargs))


class Hazards(NamedTuple):
    """The reads and orders to be kept when the operators of a run are put in another order.

    ``reads``: (output of a writer, number of a reader, place of its operand) where a read sees what
    was written through another tensor. ``orders``: (earlier, later) where a write must wait for a
    read or a write, or random numbers must be drawn in turn.
    """

    reads: tuple[tuple[Origin, int, int], ...]
    orders: tuple[tuple[int, int], ...]


def hazards(records: Sequence[OperatorRecord], storages: Mapping[int, int]) -> Hazards:
    """Every hazard of a run.

    Only memory that is written to is looked at; ``storages`` has the memory of a tensor by its
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


def last_writers(records: Sequence[OperatorRecord], storages: Mapping[int, int]) -> dict[int, int]:
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

    def read(self, number: int, record: OperatorRecord) -> None:
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

    def write(self, number: int, record: OperatorRecord) -> None:
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
