"""What PyTorch's dispatcher does while a net runs forward and backward: every operator, what it read, and what it made.

All tensors are held until the recorder is dropped, so that an object stands for one tensor throughout. Nothing is
computed from them meanwhile, but a tensor about to be overwritten is copied first: a value is what it was when it was made.
"""

import functools
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.engines.torch_net import Net
from explorer.engines.torch_places import Line, Places
from explorer.graph import Phase

Slot = tuple[int, int]
"""The number of a record and that of one of its outputs."""

LEAF = 2**64 - 1
"""The sequence number of a tape node that accumulates into a leaf."""

PLAIN = frozenset({int, float, bool, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format})
"""Types of arguments that hold no tensor."""

UNDECLARED = {"aten::native_batch_norm": (3, 4), "aten::cudnn_batch_norm": (3, 4), "aten::miopen_batch_norm": (3, 4)}
"""Operators that change arguments although their schema does not say so (torch 2.13): the running statistics."""

_current_node = torch._C._current_autograd_node
_sequence_number = torch.autograd._get_sequence_nr


@dataclass(slots=True)
class Record:
    """One operator as it ran, or (``func`` None) a tensor that was there before.

    ``given`` are the tensors among the arguments, ``reads`` the slots that they come from. ``tape`` and ``sequence`` name the
    tape node that ran it; ``accumulates`` marks a sum that the engine makes between two nodes, ``target`` the leaf that a node
    accumulates into. ``kept`` are the outputs as they were when made, ``writes`` the slots of arguments that it changed.
    """

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    phase: Phase
    reads: list[Slot]
    given: list[torch.Tensor] = field(default_factory=list)
    kept: list[torch.Tensor] = field(default_factory=list)
    writes: list[Slot] = field(default_factory=list)
    name: str = ""
    scope: str = ""
    lines: tuple[Line, ...] = ()
    tape: str = ""
    sequence: int | None = None
    target: Slot | None = None
    accumulates: bool = False
    saved: int = 0


class Recorder(TorchDispatchMode):  # type: ignore[misc]  # torch is untyped here
    """Records one gradient computation of one net; a context manager around forward, and again around backward."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net
        self.places = Places(net.call)
        self.phase: Phase = "forward"
        self.records: list[Record] = []
        self.made: dict[int, Slot] = {}
        self.holders: dict[int, list[Slot]] = {}
        self.alive: list[Any] = []
        self.owners: list[tuple[int, int]] = []
        self.first = self.newest = _sequence_number() - 1
        self.finished: int | None = None
        self.heads: list[Slot] = []
        self.walked: set[Any] = set()
        self.storages: set[int] = set()
        self.leaves: dict[str, int] = {}
        for name, tensor in (*net.inputs.items(), *net.state.items()):
            self.leaves[name], _ = self._leaf(tensor, name, "input" if name in net.inputs else "parameter")

    def _leaf(self, tensor: torch.Tensor, name: str, kind: str) -> Slot:
        record = Record(None, (kind,), {}, self.phase, [], [], name=name)
        self.records.append(record)
        self._holds(len(self.records) - 1, record, [tensor])
        return len(self.records) - 1, 0

    def _holds(self, number: int, record: Record, tensors: list[torch.Tensor]) -> None:
        for slot, tensor in enumerate(tensors):
            place = (number, slot)
            record.kept.append(tensor)
            self.made[id(tensor)] = place
            self.holders.setdefault(tensor.untyped_storage()._cdata, []).append(place)
        self.alive.append(tensors)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled here, and keeping Dynamo out costs as much as a small operator

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        given = tensors_in((args, kwargs) if kwargs else args)
        reads = [self.made.get(id(tensor)) or self._unknown(tensor) for tensor in given]
        record = Record(func, args, kwargs, self.phase, reads, given)
        number = len(self.records)
        if self.phase == "forward":
            record.scope, record.lines = self.places.scope, self.places.lines()
        self._placed(record, number)
        changed = self._changed(func, args, kwargs)
        for tensor in changed:
            self._copy_holders(tensor)
        result = func(*args, **kwargs)
        self.records.append(record)
        self._holds(number, record, tensors_in(result))
        record.writes = [self.made[id(tensor)] for tensor in changed]
        return result

    def _placed(self, record: Record, number: int) -> None:
        """Note which tape node runs this operator, and which one the operator has just made."""
        newest = _sequence_number() - 1
        if newest > self.newest:
            self.owners.append((newest, number))
            self.newest = newest
        node = _current_node()
        if node is None:
            return
        record.tape, record.sequence = node.name().removeprefix("torch::autograd::"), node._sequence_nr()
        if record.sequence == LEAF:
            record.target = self.made.get(id(node.variable))
            record.accumulates = True
        else:
            record.accumulates = record.sequence == self.finished

    def _unknown(self, tensor: torch.Tensor) -> Slot:
        """The slot of a tensor that no operator was seen to make: of the same elements if there are such, else a constant."""
        for number, slot in reversed(self.holders.get(tensor.untyped_storage()._cdata, ())):
            twin = self.records[number].kept[slot]
            if twin.shape == tensor.shape and twin.stride() == tensor.stride() and twin.data_ptr() == tensor.data_ptr():
                self.made[id(tensor)] = (number, slot)
                self.alive.append(tensor)
                return number, slot
        return self._leaf(tensor, "seed" if self.phase == "backward" and _current_node() is None else "", "constant")

    def _changed(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
        places, names = writes_of(func)
        given = [args[index] for index in places if index < len(args)] + [kwargs[name] for name in names if name in kwargs]
        return tensors_in(given) if given else []

    def _copy_holders(self, tensor: torch.Tensor) -> None:
        place = tensor.untyped_storage()._cdata
        for number, slot in self.holders.get(place, ()):
            kept = self.records[number].kept
            if kept[slot].untyped_storage()._cdata == place:
                kept[slot] = kept[slot].detach().clone()
        self.holders[place] = []

    def slot(self, tensor: torch.Tensor) -> Slot:
        """Where a tensor of the result comes from."""
        return self.made.get(id(tensor)) or self._unknown(tensor)

    def leaf(self, name: str) -> int | None:
        """The record of the input or parameter called ``name``."""
        return self.leaves.get(name)

    def owner(self, sequence: int) -> int | None:
        """The record of the operator that made a tape node: the last one that had made any by then."""
        found = bisect_right(self.owners, (sequence, len(self.records))) - 1
        return self.owners[found][1] if found >= 0 and sequence > self.first else None

    def backward(self, heads: list[torch.Tensor]) -> None:
        """Say that a backward pass from ``heads`` comes next: hooks its tape and counts what the tape keeps.

        From the second pass on the heads are gradients themselves.
        """
        if self.phase == "backward":
            self.heads += [self.slot(head) for head in heads]
        self.phase, self.finished = "backward", None
        with torch.utils._python_dispatch._disable_current_modes():
            for node in self._tape(heads):
                node.register_hook(self._done)
                self._count(node)

    def _done(self, *_: Any) -> None:
        self.finished = _current_node()._sequence_nr()

    def _tape(self, heads: list[torch.Tensor]) -> Iterator[Any]:
        waiting = [head.grad_fn for head in heads if head.grad_fn is not None]
        while waiting:
            node = waiting.pop()
            if node in self.walked:
                continue
            self.walked.add(node)
            yield node
            waiting.extend(child for child, _ in node.next_functions if child is not None)

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
    _gather((value,), found)
    return found


def _gather(values: Iterable[Any], found: list[torch.Tensor]) -> None:
    for item in values:
        if type(item) in PLAIN:  # first, since asking whether something is a tensor takes longest when it is none
            continue
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, (tuple, list)):
            _gather(item, found)
        elif isinstance(item, dict):
            _gather(item.values(), found)


def _kept(node: Any, plain: str, raw: str) -> Any:
    """What a field of a tape node holds: the tensors saved, or what a hook packed them into (a checkpoint's holds none).

    Unpacking runs the hook, and a checkpoint's computes its block once more.
    """
    held = getattr(node, raw)
    packed = [each.data for each in (held if isinstance(held, tuple) else (held,)) if each.unpack_hook is not None]
    return packed or getattr(node, plain)


@functools.cache
def saved_fields(kind: Any) -> tuple[tuple[str, str], ...]:
    """The attributes in which a class of tape nodes keeps tensors: as they were saved, and as they are held."""
    raw = [name for name in dir(kind) if name.startswith("_raw_saved_")]
    named = [(name.removeprefix("_raw"), name) for name in raw]
    return tuple((plain if hasattr(kind, plain) else plain[1:], name) for plain, name in named)


@functools.cache
def writes_of(func: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The positions and names of the arguments that an operator changes."""
    schema = func._schema
    if not schema.is_mutable:
        return UNDECLARED.get(schema.name, ()), ()
    written = [(index, a.name) for index, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
    return tuple(index for index, _ in written), tuple(name for _, name in written)
