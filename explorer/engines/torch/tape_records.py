"""The records of a tape's operators as they ran, their tensors, and the outputs that nodes show."""

import functools
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from explorer.engines.nested import replaced
from explorer.engines.source_lines import Line
from explorer.engines.torch.operators import (
    COPY_SLICES,
    EMPTY,
    draws_random_numbers,
    tensors_in,
)
from explorer.engines.torch.tensors import array_of, dtype_of
from explorer.model.arrays import Summary
from explorer.model.graph import NodeKind, Output, Phase
from explorer.numeric.summaries import batches, summarise_rows

Call = tuple[Any, Any, Any]
"""An operator, and the positional and the named arguments that it was called with."""

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
    from. ``saved_bytes`` counts what the tape node that it made keeps for backward. ``unfilled`` marks
    the elements of outputs that nothing was written to, where only some were.
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
    unfilled: Mapping[int, torch.Tensor] = field(default_factory=dict)

    @property
    def is_leaf(self) -> bool:
        """Whether it stands for an input or a parameter."""
        return self.kind in ("input", "parameter")

    def run_again(self, operands: Iterable[torch.Tensor]) -> list[torch.Tensor]:
        """The outputs of the operator on ``operands`` in the place of those recorded."""
        args, kwargs = self.called_with(operands)
        return tensors_in(self.operator(*args, **kwargs))

    def called_with(self, operands: Iterable[torch.Tensor]) -> tuple[Any, Any]:
        """The arguments of the operator, with ``operands`` in the place of those recorded."""
        # Operands are in the order in which gather_tensors() met them: args first, then kwargs.
        remaining = iter(operands)

        def fill(value: Any) -> Any:
            return next(remaining) if isinstance(value, torch.Tensor) else value

        return replaced(self.args, fill), replaced(self.kwargs, fill)


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
                is_older = record.origins[place][0] < writer < number
                if is_older and record.op != COPY_SLICES:
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


class TensorOrigins:
    """The origins of all tensors of a recording, and the memory that they lie in.

    ``origins`` and ``storages`` (addresses of PyTorch's storage objects) are keyed by the ``id`` of a
    tensor. All tensors are held until this object is dropped, so that an ``id`` stands for one
    tensor throughout; the few that may not be held are forgotten when they go. ``bytes`` counts the
    memory of those that are held.
    """

    def __init__(self, records: Sequence[OperatorRecord]) -> None:
        self.origins: dict[int, Origin] = {}
        self.storages: dict[int, int] = {}
        self.bytes = 0
        self._records = records
        self._in_storage: dict[int, list[Origin]] = {}
        self._held: list[torch.Tensor] = []
        self._unheld: dict[int, Any] = {}

    def hold(self, number: int, tensors: list[torch.Tensor]) -> None:
        """Note that record ``number`` made ``tensors``."""
        for output, tensor in enumerate(tensors):
            memory = tensor.untyped_storage()
            storage = memory._cdata
            self.origins[id(tensor)] = number, output
            self.storages[id(tensor)] = storage
            shown = self._in_storage.get(storage)
            if shown is None:
                shown = self._in_storage[storage] = []
                self.bytes += memory.nbytes()
            shown.append((number, output))
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
                self.bytes += shown.nbytes
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
