"""Records what PyTorch's dispatcher does while a net runs forward and backward.

A record has the operator, what it read, and what it made. Nothing is computed from the tensors
meanwhile, but a tensor about to be overwritten is copied first: a value is what it was when it was
made.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.source_lines import Line
from explorer.engines.torch.operators import (
    COPY,
    COPY_SLICES,
    DETACH,
    EMPTY,
    LIFT,
    TENSORS,
    ZEROS,
    gather_tensors,
    operator_name,
    tensors_in,
    written_arguments,
)
from explorer.engines.torch.put_in import NOTHING, Values, filled, put_in
from explorer.engines.torch.source_lines import RunningModule, calling_lines
from explorer.engines.torch.tape_nodes import TapeNodes
from explorer.engines.torch.tape_records import (
    OperatorRecord,
    Origin,
    TensorOrigins,
    shows_the_same,
)
from explorer.engines.torch.written_memory import WrittenMemory
from explorer.model.graph import NodeKind, Phase

SEED_NAME = "seed"
"""The name of the cotangent that a pass starts from."""


class Recorder(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Records one gradient computation.

    A context manager around forward, and again around backward. ``records`` has what ran in order;
    leaves are added before, or as they become known, and their numbers are in ``leaves``. ``module``
    knows which module runs, ``trainable`` names the leaves that all weights stands for, and ``file`` is the
    user's own, whose lines come first. ``heads`` says from which tensors second and further passes
    started. ``instead`` has other values for the outputs of some records, by the number of the record.
    """

    def __init__(
        self,
        module: RunningModule,
        trainable: Sequence[str] = (),
        file: str = "",
        instead: Mapping[int, Values] = NOTHING,
    ) -> None:
        super().__init__()
        self.module = module
        self.trainable = trainable
        self.file = file
        self._instead = instead
        self.phase: Phase = "forward"
        self.records: list[OperatorRecord] = []
        self.tensors = TensorOrigins(self.records)
        self.tape = TapeNodes(self.records, self.tensors.origins)
        self._written = WrittenMemory(self.records, self.tensors, instead)
        self.heads: list[Origin] = []
        self.leaves: dict[str, int] = {}

    def add_leaf(self, name: str, tensor: torch.Tensor, kind: NodeKind) -> None:
        """Note an input or a parameter, by its name, before an operator reads it."""
        if len(self.records) in self._instead:
            filled(tensor, self._instead[len(self.records)][0])
        self.leaves[name] = self._add_given(tensor, name, kind)[0]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Nothing is compiled here, and keeping Dynamo out costs as much as a small operator.
        return False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        record = self.begin(func, args, kwargs)
        return self.finish(record, func(*args, **kwargs))

    def begin(self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> OperatorRecord:
        """The record of an operator that is about to run; what it overwrites is copied."""
        record = self._record(operator, args, kwargs)
        self.tape.attribute(record)
        if self.phase == "forward":
            record.scope = self.module.path
        elif not record.tape:
            self._note_preparation(record)
        # In backward too: a block that is computed again, or the user's own, is on lines of its own.
        record.lines = self.lines()
        self._note_writes(record)
        return record

    def lines(self) -> tuple[Line, ...]:
        """The lines of the user's code and the library's that the running operator is on."""
        return calling_lines()

    def finish(self, record: OperatorRecord, result: Any) -> Any:
        """Note what an operator has returned; what it is to return, which ``instead`` may change."""
        number = len(self.records)
        if number in self._instead:
            values = self._instead[number]
            result = put_in(result, values, record.operands, record.written)
        record.outputs = [result] if type(result) in TENSORS else tensors_in(result)
        self.records.append(record)
        if self.tape.feeds_leaf(record):
            self.tensors.hold_aliases(number)
        else:
            self.tensors.hold(number, record.outputs)
        if record.written:
            origins = self.tensors.origins
            record.written_origins = [origins[id(tensor)] for tensor in record.written]
            self._written.write(number)
        elif self._written.has_any:
            self._written.take(record)
        return result

    def _record(
        self, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> OperatorRecord:
        operands: list[torch.Tensor] = []
        gather_tensors(args, operands)
        if kwargs:
            gather_tensors(kwargs.values(), operands)
        # Most operands are known, and this runs at every operator: look them up without a call.
        recorded = self.tensors.origins
        origins = [recorded.get(id(tensor)) or self._first_origin(tensor) for tensor in operands]
        if self._written.has_any:
            origins = list(map(self._written.now, operands, origins))
        name = operator_name(operator)
        return OperatorRecord(operator, args, kwargs, self.phase, origins, operands, name)

    def _note_preparation(self, record: OperatorRecord) -> None:
        """Note what an operator is for that no tape node runs: it prepares a pass over the tape."""
        if not record.operands:
            # ones() for a cotangent reads no tensor.
            record.kind = "constant"
            record.name = SEED_NAME
        elif record.op == ZEROS:
            record.kind = "constant"  # the gradient of what the outputs do not depend on

    def _note_writes(self, record: OperatorRecord) -> None:
        """Note which operands an operator is about to overwrite, and keep what they hold."""
        positions, names = written_arguments(record.operator)
        if not positions and not names:
            return
        args, kwargs = record.args, record.kwargs
        written = [args[position] for position in positions if position < len(args)]
        written += [kwargs[name] for name in names if name in kwargs]
        record.written = tensors_in(written)
        for tensor in record.written:
            self.tensors.keep_values(tensor)

    def _add_given(self, tensor: torch.Tensor, name: str, kind: NodeKind) -> Origin:
        """A record for a tensor that no operator was seen to make; its origin."""
        number = len(self.records)
        record = OperatorRecord(
            None, (), {}, self.phase, [], [], kind, [tensor], kind=kind, name=name
        )
        self.records.append(record)
        # A tensor under two names goes by the first of them, as in MindSpore's tape.
        if id(tensor) not in self.tensors.origins:
            self.tensors.hold(number, [tensor])
        return number, 0

    def origin(self, tensor: torch.Tensor) -> Origin:
        """The origin of what a tensor holds.

        One that is not known shows the elements of one that is, or else is a constant.
        """
        return self._written.now(tensor, self._first_origin(tensor))

    def _first_origin(self, tensor: torch.Tensor) -> Origin:
        """The same, of a tensor whose memory was not written to since."""
        origin = self.tensors.origins.get(id(tensor)) or self.tensors.same_elements(tensor)
        if origin is not None:
            return origin
        name = ""
        if self.phase == "backward" and self.tape.is_idle:
            name = SEED_NAME
        return self._add_given(tensor, name, "constant")

    def origins_of(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, Origin]:
        """Where some tensors come from, by name."""
        return {name: self.origin(tensor) for name, tensor in tensors.items()}

    def values_at_start(self, names: Iterable[str]) -> dict[str, torch.Tensor]:
        """The values of inputs and parameters before anything ran."""
        return {name: self.records[self.leaves[name]].outputs[0] for name in names}

    def expect_pass(self, heads: list[torch.Tensor]) -> None:
        """Say that a backward pass from ``heads`` comes next.

        From the second pass on the heads are gradients themselves.
        """
        if self.phase == "backward":
            self.heads += map(self.origin, heads)
        self.phase = "backward"
        self.tape.expect_pass(heads)


class Bookkeeping:
    """The records of a recording that get no node of their own.

    Autograd's own detached aliases are shown by the node of what they alias, and empty memory by
    that of the operator that fills it: ``filled`` has that memory's record by the record of the
    operator. Parameters and empty memory that no operator reads are not shown at all, and neither are
    shapes that PyTorch works out without numbers.
    """

    def __init__(
        self,
        records: Sequence[OperatorRecord],
        forward_results: Iterable[Origin],
        gradients: Iterable[Origin],
        trainable: Sequence[str],
    ) -> None:
        self.filled: dict[int, int] = {}
        self._shown_by: dict[int, Origin] = {}
        self._unread: set[int] = set()
        self._records = records
        readers = [record for record in records if not _has_no_numbers(record)]
        in_forward = [record for record in readers if record.phase == "forward"]
        read_in_forward = _numbers(forward_results) | _numbers_read(in_forward)
        read = read_in_forward | _numbers(gradients) | _numbers_read(readers)

        for number, record in enumerate(records):
            if self._is_alias(record, number in read_in_forward):
                self._shown_by[number] = record.origins[0]
            elif record.op in EMPTY and self._is_filled_next(number):
                self._shown_by[number] = number + 1, 0
                self.filled[number + 1] = number
            elif number not in read and self._may_stay_unread(record, trainable):
                self._unread.add(number)

    def visible(self) -> list[int]:
        """The numbers of the records that get a node of their own."""
        hidden = self._unread.union(self._shown_by)
        return [number for number in range(len(self._records)) if number not in hidden]

    def resolve(self, origin: Origin) -> Origin:
        """The record with a node, and its output, that show the tensor of ``origin``."""
        while origin[0] in self._shown_by:
            origin = self._shown_by[origin[0]]
        return origin

    def overwrite(self, reads: Iterable[tuple[Origin, int, int]]) -> list[tuple[Origin, int, int]]:
        """Show aliases of memory that was overwritten by what was written there; return other reads.

        ``reads`` are those of ``hazards``. Where a part was written alone, the reads of an alias
        are those of the operators that it is handed to.
        """
        left: dict[tuple[Origin, int, int], None] = {}
        handed_on: dict[int, list[Origin]] = {}
        for origin, number, place in reads:
            if number not in self._shown_by:
                left[origin, number, place] = None
            elif self._shows(origin, self._records[number].outputs):
                self._shown_by[number] = origin
            else:
                handed_on.setdefault(number, []).append(origin)

        for number, record in enumerate(self._records if handed_on else ()):
            for place, (maker, _) in enumerate(record.origins):
                if maker not in handed_on:
                    continue
                if number in self._shown_by:
                    handed_on.setdefault(number, []).extend(handed_on[maker])
                left.update(dict.fromkeys((it, number, place) for it in handed_on[maker]))
        return list(left)

    def _shows(self, origin: Origin, outputs: Sequence[torch.Tensor]) -> bool:
        number, output = origin
        written = self._records[number].outputs
        return output < len(written) and shows_the_same(written[output], outputs[0])

    def _is_alias(self, record: OperatorRecord, read_in_forward: bool) -> bool:
        # Autograd detaches what it saves and what it hands on; a net's own detach is a step of its
        # forward that something there reads.
        if record.op == DETACH:
            return record.phase == "backward" or not read_in_forward
        return record.op == LIFT

    def _is_filled_next(self, number: int) -> bool:
        """Whether the next operator does nothing but fill the empty memory that this one makes."""
        following = number + 1
        if following == len(self._records) or self._records[following].op != COPY:
            return False
        return self._records[following].origins[0] == (number, 0)

    def _may_stay_unread(self, record: OperatorRecord, trainable: Sequence[str]) -> bool:
        if record.kind == "parameter":
            return record.name not in trainable
        return record.op in EMPTY or record.op == COPY_SLICES or _has_no_numbers(record)


def _has_no_numbers(record: OperatorRecord) -> bool:
    """Whether an operator makes nothing but tensors on the meta device: shapes without numbers."""
    # Where autograd adds a gradient that is known to be zero (sgn has one, torch 2.13), it works
    # out the shape of the sum there, and hands on the other gradient.
    return bool(record.outputs) and all(tensor.is_meta for tensor in record.outputs)


def _numbers(origins: Iterable[Origin]) -> set[int]:
    """The numbers of the records that some tensors come from."""
    return {number for number, _ in origins}


def _numbers_read(records: Iterable[OperatorRecord]) -> set[int]:
    """The numbers of the records that the operands of some records come from."""
    numbers: set[int] = set()
    for record in records:
        numbers |= _numbers(record.origins)
    return numbers


def forward_links(
    recorder: Recorder, bookkeeping: Bookkeeping, gradients: Mapping[str, Origin]
) -> dict[int, int]:
    """The forward record of every backward one that has one, by number.

    An operator that a tape node runs derives from the operator that made the node. A sum of the
    autograd engine, and what runs between nodes, derives from what its consumer derives from; at
    the end of that is the leaf of a gradient. ``gradients`` says where the gradients come
    from, by name.
    """
    links = _links_by_tape(recorder, bookkeeping)
    link_of_consumer = _leaves_of_results(recorder, bookkeeping, gradients)
    # Consumers come later, so they are settled before what they read.
    for number in range(len(recorder.records) - 1, -1, -1):
        record = recorder.records[number]
        if number not in links and record.phase == "backward":
            link = link_of_consumer.get(number)
            if record.leaf is not None:
                # A block that is computed again may start from an alias of the leaf.
                link = bookkeeping.resolve(record.leaf)[0]
            if link is not None:
                links[number] = link
        if number in links:
            for origin in record.origins:
                link_of_consumer[bookkeeping.resolve(origin)[0]] = links[number]
    return links


REENTRANT = "CheckpointFunctionBackward"
"""The tape node that computes a block again, whose operators made no nodes in forward (torch 2.13)."""


def _links_by_tape(recorder: Recorder, bookkeeping: Bookkeeping) -> dict[int, int]:
    links: dict[int, int] = {}
    visible = set(bookkeeping.visible())
    reached: dict[int, int] = {}
    for number, record in enumerate(recorder.records):
        maker = _maker(recorder, record)
        if maker is None:
            continue
        if record.tape == recorder.records[maker + 1].op == COPY_SLICES and maker + 1 in visible:
            maker += 1
        shown, _ = bookkeeping.resolve((maker, 0))
        if recorder.records[shown].phase == "forward":
            links[number] = shown
            if record.tape == REENTRANT and number in visible:
                # The node is that of the block's first operator: its others follow in order.
                again = _next_alike(recorder.records, reached.get(shown, shown), record)
                if again is not None:
                    links[number], reached[shown] = again, again + 1
        elif shown in links:
            # In a second pass the tape is that of the first: its forward is the forward's.
            links[number] = links[shown]
    return links


def _next_alike(
    records: Sequence[OperatorRecord], first: int, record: OperatorRecord
) -> int | None:
    """The first record of forward, from a number on, with the operator of another one."""
    for number in range(first, len(records)):
        if records[number].phase == "forward" and records[number].op == record.op:
            return number
    return None


def _maker(recorder: Recorder, record: OperatorRecord) -> int | None:
    """The record of the operator that made the tape node which ran an operator of backward."""
    if record.phase == "forward" or record.sequence is None or record.kind == "accumulate":
        return None
    return recorder.tape.maker(record.sequence)


def _leaves_of_results(
    recorder: Recorder, bookkeeping: Bookkeeping, gradients: Mapping[str, Origin]
) -> dict[int, int]:
    """The leaf that every result of a pass is the gradient of."""
    leaves: dict[int, int] = {}
    for name, origin in gradients.items():
        leaves[bookkeeping.resolve(origin)[0]] = recorder.leaves[name.removeprefix("d")]
    for head in recorder.heads:
        # A further pass started from a gradient: a nested case has one leaf, so it is that one's.
        leaves.setdefault(bookkeeping.resolve(head)[0], next(iter(leaves.values())))
    return leaves
