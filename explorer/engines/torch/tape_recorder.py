"""What PyTorch's dispatcher does while a net runs forward and backward: every operator, what it
read, and what it made.

All tensors are held until the recorder is dropped, so that an object stands for one tensor
throughout. Nothing is computed from them meanwhile, but a tensor about to be overwritten is copied
first: a value is what it was when it was made.
"""

import functools
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.torch.net import Net
from explorer.engines.torch.source_lines import Line, Places
from explorer.model.graph import Phase

Slot = tuple[int, int]
"""The number of a record and that of one of its outputs."""

Edges = tuple[tuple[Any, int], ...]
"""The tape nodes that a node's gradients go to, each with the number of the input that they arrive
at.
"""

LEAF = 2**64 - 1
"""The sequence number of a tape node that accumulates into a leaf."""

NESTS = frozenset({tuple, list})
TENSORS = frozenset({torch.Tensor, torch.nn.Parameter})
PLAIN = frozenset(
    {
        int,
        float,
        bool,
        str,
        type(None),
        torch.dtype,
        torch.device,
        torch.layout,
        torch.memory_format,
    }
)
"""Types of arguments that hold no tensor."""

UNDECLARED = {
    "aten::native_batch_norm": (3, 4),
    "aten::cudnn_batch_norm": (3, 4),
    "aten::miopen_batch_norm": (3, 4),
}
"""Operators that change arguments although their schema does not say so (torch 2.13): the running
statistics.
"""

EMPTY = frozenset(
    {"aten.new_empty_strided.default", "aten.empty.memory_format", "aten.empty_like.default"}
)
"""Operators that make memory without writing to it: what they yield is no value until another
operator fills it.
"""

_current_node = torch._C._current_autograd_node
_sequence_number = torch.autograd._get_sequence_nr


@dataclass(slots=True)
class Record:
    """One operator as it ran, or (``func`` None) a tensor that was there before.

    ``op`` is the operator's name, or the kind of such a tensor. ``given`` are the tensors among the
    arguments, ``reads`` the slots that they come from, ``kept`` the outputs as they were when made,
    ``changed`` the arguments that it wrote to, ``writes`` their slots. ``tape`` and ``sequence``
    name the tape node that ran it; ``accumulates`` marks a sum that the engine makes between two
    nodes, ``target`` the leaf that a node accumulates into.
    """

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    phase: Phase
    reads: list[Slot]
    given: list[torch.Tensor]
    kept: list[torch.Tensor] = field(default_factory=list)
    op: str = ""
    changed: Sequence[torch.Tensor] = ()
    writes: Sequence[Slot] = ()
    name: str = ""
    scope: str = ""
    lines: tuple[Line, ...] = ()
    tape: str = ""
    sequence: int | None = None
    target: Slot | None = None
    accumulates: bool = False
    saved: int = 0


class Recorder(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Records one gradient computation of one net; a context manager around forward, and again
    around backward.

    ``made`` tells the slot of a tensor by its ``id``, ``memory`` its storage.
    """

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net
        self.places = Places(net.call)
        self.phase: Phase = "forward"
        self.records: list[Record] = []
        self.made: dict[int, Slot] = {}
        self.memory: dict[int, int] = {}
        self.holders: dict[int, list[Slot]] = {}
        self.alive: list[Any] = []
        self.owners: list[tuple[int, int]] = []
        self.first = self.newest = _sequence_number() - 1
        self.finished: int | None = None
        self.running: tuple[Any, str, int, Slot | None] = (None, "", 0, None)
        self.heads: list[Slot] = []
        self.walked: set[Any] = set()
        self.feeding: set[Any] = set()
        self.followed: dict[int, Any] = {}
        self.unhooked: list[tuple[Any, Edges]] = []
        self.arriving: Counter[tuple[Any, int]] = Counter()
        self.storages: set[int] = set()
        self.leaves: dict[str, int] = {}
        for name, tensor in (*net.inputs.items(), *net.state.items()):
            self.leaves[name], _ = self._leaf(
                tensor, name, "input" if name in net.inputs else "parameter"
            )

    def _leaf(self, tensor: torch.Tensor, name: str, kind: str) -> Slot:
        self.records.append(
            Record(None, (kind,), {}, self.phase, [], [], [tensor], op=kind, name=name)
        )
        self._holds([tensor])
        return len(self.records) - 1, 0

    def _holds(self, tensors: list[torch.Tensor]) -> None:
        """Note that the last record made ``tensors``."""
        number = len(self.records) - 1
        for slot, tensor in enumerate(tensors):
            self.made[id(tensor)] = number, slot
            there = self.memory[id(tensor)] = tensor.untyped_storage()._cdata
            self.holders.setdefault(there, []).append((number, slot))
        self.alive += tensors

    def _follows(self, record: Record) -> None:
        """Hold just the memory of what the last record made: autograd copies a leaf's gradient that
        somebody has hold of.
        """
        number = len(self.records) - 1
        for slot, tensor in enumerate(record.kept):
            known, alias = id(tensor), tensor.detach()
            there = self.memory[known] = self.memory[id(alias)] = tensor.untyped_storage()._cdata
            self.made[known] = number, slot
            self.holders.setdefault(there, []).append((number, slot))
            self.followed[known] = weakref.ref(tensor, functools.partial(self._lost, known))
            record.kept[slot] = alias
        self.alive += record.kept

    def _lost(self, known: int, _: Any) -> None:
        del self.followed[known], self.made[known], self.memory[known]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled here, and keeping Dynamo out costs as much as a small operator

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        given: list[torch.Tensor] = []
        _gather(args, given)
        if kwargs:
            _gather(kwargs.values(), given)
        reads = [self.made.get(id(tensor)) or self._unknown(tensor) for tensor in given]
        record = Record(func, args, kwargs, self.phase, reads, given, op=name_of(func))
        if self.phase == "forward":
            record.scope, record.lines = self.places.scope, self.places.lines()
        self._placed(record)
        places, names = writes_of(func)
        if places or names:
            record.changed = tensors_in([args[index] for index in places if index < len(args)])
            _gather([kwargs[name] for name in names if name in kwargs], record.changed)
            for tensor in record.changed:
                self._copy_holders(tensor)
        result = func(*args, **kwargs)
        self.records.append(record)
        record.kept = made = [result] if type(result) in TENSORS else tensors_in(result)
        if record.tape and self.running[0] in self.feeding:
            self._follows(record)
        else:
            self._holds(made)
        if record.changed:
            record.writes = [self.made[id(tensor)] for tensor in record.changed]
        return result

    def _placed(self, record: Record) -> None:
        """Note which tape node runs this operator, and which one the operator has just made."""
        newest = _sequence_number() - 1
        if newest > self.newest:
            self.owners.append((newest, len(self.records)))
            self.newest = newest
        node = _current_node()
        if node is None:
            return
        if node is not self.running[0]:
            sequence = node._sequence_nr()
            target = self.made.get(id(node.variable)) if sequence == LEAF else None
            self.running = node, node.name().removeprefix("torch::autograd::"), sequence, target
        _, record.tape, record.sequence, record.target = self.running
        record.accumulates = record.sequence == LEAF or record.sequence == self.finished

    def _unknown(self, tensor: torch.Tensor) -> Slot:
        """The slot of a tensor that no operator was seen to make: of the same elements if there are
        such, else a constant.
        """
        there = tensor.untyped_storage()._cdata
        for number, slot in reversed(self.holders.get(there, ())):
            twin = self.records[number].kept[slot]
            if (
                twin.shape == tensor.shape
                and twin.stride() == tensor.stride()
                and twin.data_ptr() == tensor.data_ptr()
            ):
                self.made[id(tensor)], self.memory[id(tensor)] = (number, slot), there
                self.alive.append(tensor)
                return number, slot
        return self._leaf(
            tensor,
            "seed" if self.phase == "backward" and _current_node() is None else "",
            "constant",
        )

    def _copy_holders(self, tensor: torch.Tensor) -> None:
        there = tensor.untyped_storage()._cdata
        for number, slot in self.holders.get(there, ()):
            record = self.records[number]
            if record.op not in EMPTY and self.memory.get(id(record.kept[slot])) == there:
                record.kept[slot] = record.kept[
                    slot
                ].clone()  # autograd is off inside a dispatch mode
        self.holders[there] = []

    def slot(self, tensor: torch.Tensor) -> Slot:
        """Where a tensor of the result comes from."""
        return self.made.get(id(tensor)) or self._unknown(tensor)

    def leaf(self, name: str) -> int | None:
        """The record of the input or parameter called ``name``."""
        return self.leaves.get(name)

    def starts(self, names: Iterable[str]) -> dict[str, torch.Tensor]:
        """What inputs and parameters held before anything ran."""
        return {name: self.records[self.leaves[name]].kept[0] for name in names}

    def owner(self, sequence: int) -> int | None:
        """The record of the operator that made a tape node: the last one that had made any by then."""
        found = bisect_right(self.owners, (sequence, len(self.records))) - 1
        return self.owners[found][1] if found >= 0 and sequence > self.first else None

    def backward(self, heads: list[torch.Tensor]) -> None:
        """Say that a backward pass from ``heads`` comes next: hooks its tape and counts what the
        tape keeps.

        From the second pass on the heads are gradients themselves.
        """
        if self.phase == "backward":
            self.heads += [self.slot(head) for head in heads]
        self.phase, self.finished = "backward", None
        with torch.utils._python_dispatch._disable_current_modes():
            fresh = self._tape(heads)
            self.arriving.update((head.grad_fn, head.output_nr) for head in heads)
            self.arriving.update(edge for _, edges in fresh for edge in edges)
            self.unhooked += fresh
            adding = [any(self.arriving[edge] > 1 for edge in edges) for _, edges in self.unhooked]
            for (node, _), adds in zip(self.unhooked, adding, strict=True):
                if adds:  # the engine sums what arrives at one place from several nodes, right after each of them
                    node.register_hook(self._done)
            self.unhooked = [
                each for each, adds in zip(self.unhooked, adding, strict=True) if not adds
            ]
            for node, edges in fresh:
                self._count(node)
                if any(child is not None and child._sequence_nr() == LEAF for child, _ in edges):
                    self.feeding.add(node)

    def _done(self, *_: Any) -> None:
        self.finished = _current_node()._sequence_nr()

    def _tape(self, heads: list[torch.Tensor]) -> list[tuple[Any, Edges]]:
        """The nodes behind ``heads`` that were not walked yet, each with the places that its
        gradients go to.
        """
        waiting = [head.grad_fn for head in heads if head.grad_fn is not None]
        tape = []
        while waiting:
            node = waiting.pop()
            if node in self.walked:
                continue
            self.walked.add(node)
            edges = node.next_functions
            tape.append((node, edges))
            waiting.extend(child for child, _ in edges if child is not None)
        return tape

    def _count(self, node: Any) -> None:
        """Add what a tape node keeps to the operator that made it; every storage counts once."""
        owner = self.owner(node._sequence_nr()) if node._sequence_nr() != LEAF else None
        for plain, raw in saved_fields(node.__class__):
            try:
                values = _kept(node, plain, raw)
            except RuntimeError:  # overwritten since; backward itself will raise and say so
                continue
            for tensor in tensors_in(values):
                storage = tensor.untyped_storage()
                if owner is not None and storage._cdata not in self.storages:
                    self.storages.add(storage._cdata)
                    self.alive.append(tensor)
                    self.records[owner].saved += storage.nbytes()


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors of nested arguments from left to right."""
    found: list[torch.Tensor] = []
    _gather(value if type(value) in NESTS else (value,), found)
    return found


def _gather(values: Iterable[Any], found: list[torch.Tensor]) -> None:
    for item in values:
        kind = type(item)
        if kind in TENSORS:
            found.append(item)
        elif kind in PLAIN:  # before the questions below, which take longest when the answer is no
            continue
        elif isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, (tuple, list)):
            _gather(item, found)
        elif isinstance(item, dict):
            _gather(item.values(), found)


def _kept(node: Any, plain: str, raw: str) -> Any:
    """What a node keeps in a field; where a hook has packed it, what the hook returned, since
    unpacking may compute it anew.
    """
    held = getattr(node, raw)
    parts = held if isinstance(held, (tuple, list)) else (held,)
    packed = any(part.unpack_hook is not None for part in parts)
    return [part.data for part in parts] if packed else getattr(node, plain)


@functools.cache
def saved_fields(kind: Any) -> tuple[tuple[str, str], ...]:
    """The attributes in which a class of tape nodes keeps tensors: as they were saved, and as they
    are held.
    """
    raw = [name for name in dir(kind) if name.startswith("_raw_saved_")]
    named = [(name.removeprefix("_raw"), name) for name in raw]
    return tuple((plain if hasattr(kind, plain) else plain[1:], name) for plain, name in named)


@functools.cache
def name_of(func: Any) -> str:
    """The name of an operator: "aten.add.Tensor"."""
    return str(func)


@functools.cache
def writes_of(func: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The positions and names of the arguments that an operator changes."""
    schema = func._schema
    if not schema.is_mutable:
        return UNDECLARED.get(schema.name, ()), ()
    written = [
        (index, a.name)
        for index, a in enumerate(schema.arguments)
        if a.alias_info is not None and a.alias_info.is_write
    ]
    return tuple(index for index, _ in written), tuple(name for _, name in written)
