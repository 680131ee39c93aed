"""What a write changes beyond the tensor that is written to: whatever else shows the same memory.

Autograd sees it alike: a write through a view makes the base the result of a CopySlices node, and
every other view of the base is taken from it again (torch 2.13).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import torch

from explorer.engines.torch.operators import COPY_SLICES, EMPTY, is_view, tensors_in
from explorer.engines.torch.put_in import Values, filled
from explorer.engines.torch.tape_records import OperatorRecord, Origin, TensorOrigins


class Part(NamedTuple):
    """A view that was written to: where it was taken, and its base with what was written."""

    view: Origin
    base: Origin


class WrittenMemory:
    """The origins of tensors of whose memory something was written to.

    Such a tensor gets a further record: a base when it is written to through a view, a view when it is
    read next. ``instead`` has other values for the outputs of some records, by the number of the
    record.
    """

    def __init__(
        self,
        records: list[OperatorRecord],
        tensors: TensorOrigins,
        instead: Mapping[int, Values],
    ) -> None:
        self._records = records
        self._tensors = tensors
        self._instead = instead
        self._storages: set[int] = set()
        self._newer: dict[Origin, Origin] = {}
        self._parts: dict[Origin, Part] = {}

    @property
    def has_any(self) -> bool:
        """Whether anything was written to."""
        return bool(self._storages)

    def now(self, tensor: torch.Tensor, origin: Origin) -> Origin:
        """The origin of what a tensor holds now; ``origin`` is the last one that is known."""
        storage = self._tensors.storages[id(tensor)]
        if storage not in self._storages:
            return origin
        # From the tensor up to what is not out of date, and down again.
        views: list[tuple[Origin, Origin]] = []
        origin = self._newest(origin)
        while True:
            part = self._parts.get(origin)
            if part is not None and part.base not in self._newer:
                break
            view = part.view if part is not None else origin
            if not self._shows_operand(view, storage):
                break
            views.append((origin, view))
            origin = self._newest(self._records[view[0]].origins[0])
        for shown, view in reversed(views):
            if shown == view and origin == self._records[view[0]].origins[0]:
                origin = shown
            else:
                self._newer[shown] = origin = self._taken_again(view, origin)
        return origin

    def write(self, writer: int) -> None:
        """Note that a record has written to some of its operands, and the bases of these."""
        record = self._records[writer]
        read = dict(zip(map(id, record.operands), record.origins, strict=True))
        for tensor, after in zip(record.written, record.written_origins, strict=True):
            before = read[id(tensor)]
            storage = self._tensors.storages[id(tensor)]
            self._storages.add(storage)
            if after == before:
                continue  # the operator does not return what it has written to
            self._newer[before] = after
            part = self._parts.get(before)
            view = part.view if part is not None else before
            base, its_origin = self._base(before, storage)
            if base is not None and _has_part(base, tensor):
                copied = self._copied(record, tensor, after, base, its_origin)
                self._newer[its_origin] = copied
                self._parts[after] = Part(view, copied)

    def take(self, record: OperatorRecord) -> None:
        """Note which elements of a view nothing was written to."""
        if record.operator is None or not is_view(record.operator):
            return
        viewed, output = record.origins[0]
        marks = self._records[viewed].unfilled.get(output)
        if marks is not None:
            args, kwargs = record.called_with([marks, *record.operands[1:]])
            shown = enumerate(tensors_in(record.operator(*args, **kwargs)))
            record.unfilled = {place: part for place, part in shown if part.any()}

    def _newest(self, origin: Origin) -> Origin:
        while origin in self._newer:
            origin = self._newer[origin]
        return origin

    def _shows_operand(self, origin: Origin, storage: int) -> bool:
        """Whether an operator took a view of its first operand, which is in some memory too."""
        record = self._records[origin[0]]
        if record.operator is None or not is_view(record.operator):
            return False
        return self._tensors.storages[id(record.operands[0])] == storage

    def _base(self, origin: Origin, storage: int) -> tuple[torch.Tensor | None, Origin]:
        """What a view that is up to date is a view of, and its origin; None where it is no view."""
        base = None
        while True:
            part = self._parts.get(origin)
            if part is not None:
                return self._records[part.base[0]].operands[0], part.base
            if not self._shows_operand(origin, storage):
                return base, origin
            record = self._records[origin[0]]
            base, origin = record.operands[0], record.origins[0]

    def _taken_again(self, view: Origin, origin: Origin) -> Origin:
        """A view of what its operand, of an origin, shows now."""
        record = self._records[view[0]]
        outputs = tensors_in(record.operator(*record.args, **record.kwargs))
        origins = [origin, *record.origins[1:]]
        phase = self._records[origin[0]].phase
        again = replace(
            record, phase=phase, origins=origins, outputs=outputs, saved_bytes=0, unfilled={}
        )
        self.take(again)
        return self._add(again), view[1]

    def _copied(
        self,
        record: OperatorRecord,
        part: torch.Tensor,
        after: Origin,
        base: torch.Tensor,
        origin: Origin,
    ) -> Origin:
        """The base of a part that a record has written to."""
        place = part.size(), part.stride(), part.storage_offset() - base.storage_offset()
        made = self._records[origin[0]]
        marks = made.unfilled.get(origin[1])
        if made.op in EMPTY:
            marks = torch.ones_like(base, dtype=torch.bool)
        elif marks is not None:
            marks = marks.clone()
        if marks is not None:
            marks.as_strided(*place).fill_(False)
        copied = replace(
            record,
            operator=torch.ops.aten.as_strided_scatter.default,
            args=(base, part, *place),
            kwargs={},
            origins=[origin, after],
            operands=[base, part],
            op=COPY_SLICES,
            outputs=[base],
            written=(),
            written_origins=(),
            saved_bytes=0,
            unfilled={0: marks} if marks is not None and marks.any() else {},
        )
        return self._add(copied), 0

    def _add(self, record: OperatorRecord) -> int:
        """Add a record that no operator has run for; its number."""
        number = len(self._records)
        for output, value in self._instead.get(number, {}).items():
            filled(record.outputs[output], value)
        self._records.append(record)
        self._tensors.hold(number, record.outputs)
        return number


def _has_part(base: torch.Tensor, part: torch.Tensor) -> bool:
    """Whether a part is put into a copy of its base as it is in the base."""
    # A copy has the strides of what it copies only where that has no gaps (torch 2.13).
    strides = torch.empty_like(base, device="meta").stride()
    return bool(base.dtype == part.dtype and base.stride() == strides)
