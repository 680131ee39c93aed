"""Tensors of MindSpore's tape while it is recorded, and the graph that holds them.

The values of all are read at the end: to read a tensor is to wait until it is computed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import mindspore as ms
import numpy as np
from mindspore.ops.primitive import _run_op

from explorer.engines.capture.builder import GraphBuilder, Slot, shapes
from explorer.engines.mindspore.dispatch import node_of
from explorer.engines.mindspore.net import array_of, dtype_of, own_copy, tensor_like
from explorer.engines.mindspore.operators import unwritten_absence
from explorer.engines.mindspore.watched_calls import WatchedFunction
from explorer.engines.nested import replaced
from explorer.model.arrays import AnyArray, Summary
from explorer.model.graph import Absence, NodeKind, Output, Phase
from explorer.numeric.summaries import summarise_all

Form = tuple[tuple[int, ...], Any]
"""The shape and the dtype of a tensor."""

Memory = tuple[int, tuple[int, ...], tuple[int, ...], Any]
"""Where the elements of a tensor lie, its shape and its strides, and its dtype."""


class TapeTensor(NamedTuple):
    """A tensor as it was at one moment, since a later write gives it another node of the tape.

    ``output`` counts the outputs of ``node``, which is None for a tensor off the tape.
    """

    tensor: Any
    node: Any
    output: int


class OperatorCall(NamedTuple):
    """An operator as it was called: its tensors from left to right, and its bools.

    ``function`` and ``args`` are those of the dispatch.
    """

    function: Any
    args: tuple[Any, ...]
    operands: list[TapeTensor]
    flags: tuple[bool, ...]

    @property
    def op(self) -> str:
        """The operator's name."""
        name: str = self.function.name
        return name

    @property
    def primitive(self) -> Any:
        """The Primitive that was called; None where the operator is called by its name."""
        if self.args and isinstance(self.args[0], ms.ops.Primitive):
            return self.args[0]
        return None

    @property
    def values(self) -> tuple[Any, ...]:
        """What the operator takes, tensors and all else, in the order of its definition."""
        # A Primitive is an argument itself, and its operands come as the third one (2.10.0).
        values: tuple[Any, ...] = self.args if self.primitive is None else self.args[2]
        return values

    def values_with(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """What the operator takes, with ``tensors`` in the place of its own."""
        values: tuple[Any, ...] = _with_tensors(tuple(self.values), iter(tensors))
        return values

    def run(self, tensors: Sequence[Any]) -> list[Any]:
        """The tensors that the operator yields for ``tensors`` in the place of its own."""
        return list(tensors_in((self._result(tensors),)))

    def pull_back(self, tensors: Sequence[Any], cotangents: Mapping[int, Any]) -> Sequence[Any]:
        """The gradients with respect to ``tensors``, for the ``cotangents`` of some outputs."""
        gradient = ms.ops.GradOperation(get_all=True, sens_param=True)
        outputs = self._result(tensors)
        if isinstance(outputs, ms.Tensor):
            seed = cotangents[0]
        else:
            seed = tuple(
                cotangents.get(place, ms.ops.zeros_like(output))
                for place, output in enumerate(outputs)
            )
        gradients: Sequence[Any] = gradient(self._on_tape)(*_apart(tensors), seed)
        return gradients

    def _result(self, tensors: Sequence[Any]) -> Any:
        return self.function(*_with_tensors(self.args, iter(tensors)))

    def _on_tape(self, *tensors: Any) -> Any:
        """The result of the operator, which the tape records."""
        args = _with_tensors(self.args, iter(tensors))
        if isinstance(self.function, WatchedFunction):
            return self.function(*args)  # as Python calls it, which the tape records
        # The function of an operator that is not a Primitive is below the tape, and that of a
        # Primitive may not be called under a gradient: on Python 3.10 the process dies (2.10.0).
        if self.primitive is not None:
            return _run_op(*args)
        return _run_op(ms.ops.Primitive(self.op), self.op, args)


RESHAPES = frozenset({"Reshape"})
"""The operators whose output may be read in another order, though it shares no memory (2.10.0)."""


class TensorView(NamedTuple):
    """A tensor that is a view of another one, its slot, and whether the two share memory."""

    slot: Slot
    tensor: Any
    shares_memory: bool


def on_tape(tensor: Any) -> TapeTensor:
    """A tensor as it is now."""
    return TapeTensor(tensor, node_of(tensor), getattr(tensor, "_output_index", 0))


def tensors_in(values: Any) -> Iterator[Any]:
    """The tensors of nested values from left to right."""
    for value in values:
        if isinstance(value, ms.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from tensors_in(value)


def _with_tensors(values: Any, tensors: Iterator[Any]) -> Any:
    """Nested values with the next of ``tensors`` in each place of one."""

    def fill(value: Any) -> Any:
        return next(tensors) if isinstance(value, ms.Tensor) else value

    return replaced(values, fill)


def _apart(tensors: Sequence[Any]) -> list[Any]:
    """The same tensors, with a copy for each that occurs again.

    The tape adds the gradients of both places where one tensor is in two.
    """
    seen: set[int] = set()
    different = []
    for tensor in tensors:
        different.append(own_copy(tensor) if id(tensor) in seen else tensor)
        seen.add(id(tensor))
    return different


def memory_of(tensor: Any) -> Memory:
    """The identity of a tensor: where its elements lie, and how they are read.

    Python's wrappers are of no use for it: MindSpore makes them anew at every access (2.10.0).
    """
    # A square matrix and its transpose differ in their strides alone.
    return tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype


class TensorOrigins:
    """The slots that tensors come from.

    A tensor is known by its memory, which must not be used twice: all of them are kept alive.
    """

    def __init__(self) -> None:
        self._slots: dict[Memory, Slot] = {}
        self._views: dict[Form, list[TensorView]] = {}
        self._alive: list[Any] = []

    def slot(self, tensor: Any) -> Slot | None:
        """The slot of a tensor; None where no node was seen to make it."""
        return self._slots.get(memory_of(tensor))

    def register(self, number: int, tensors: list[Any]) -> None:
        """Note that a node made ``tensors``."""
        for output, tensor in enumerate(tensors):
            self._slots[memory_of(tensor)] = number, output
        self.hold(tensors)

    def hold(self, tensors: Any) -> None:
        """Keep some tensors alive, so that nothing else comes to lie where they do."""
        self._alive.append(tensors)

    def alias(self, tensor: Any, slot: Slot) -> None:
        """Note that a tensor comes from a slot of which another tensor is known."""
        self._slots[memory_of(tensor)] = slot
        self.hold(tensor)

    def note_views(
        self, op: str, number: int, operands: list[TapeTensor], outputs: list[Any]
    ) -> None:
        """Remember the outputs of a node that are views of one of its operands.

        They share its memory. A reshape of a view may lie elsewhere, and be copied all the same on
        the way to a kernel (2.10.0).
        """
        # Not their own addresses: the parts of a split begin at different places in one storage.
        storages = {_storage(operand.tensor) for operand in operands}
        for output, tensor in enumerate(outputs):
            shares_memory = _storage(tensor) in storages
            if shares_memory or op in RESHAPES:
                views = self._views.setdefault(_form(tensor), [])
                views.append(TensorView((number, output), tensor, shares_memory))

    def note_part(self, number: int, part: Any) -> None:
        """Note that a node gives a part of another tensor, and that it is copied on the way to a kernel."""
        self.register(number, [part])
        self._views.setdefault(_form(part), []).append(TensorView((number, 0), part, True))

    def copied_view(self, tensor: Any) -> Slot | None:
        """The slot of the view that a tensor is a contiguous copy of; None where there is none.

        MindSpore copies on the way to a kernel, and announces no operator for it (2.10.0).
        """
        latest_first = self._views.get(_form(tensor), [])[::-1]
        if not latest_first:
            return None
        elements = array_of(tensor)
        data = elements.tobytes()
        # One number throughout may be anything's.
        varies = elements.size > 1 and bool((elements != elements.flat[0]).any())
        for view in latest_first:
            is_evident = view.shares_memory or varies
            if is_evident and array_of(view.tensor).tobytes() == data:
                slot: Slot = view.slot
                self.alias(tensor, slot)
                return slot
        return None


def _form(tensor: Any) -> Form:
    return tuple(tensor.shape), tensor.dtype


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
        missing: Mapping[str, Absence] = MappingProxyType({}),
        **fields: Any,
    ) -> int:
        """A new node fed by ``inputs`` that yields ``tensors``; its number.

        ``unwritten`` are the numbers of outputs that hold no result.
        """
        absent = dict(missing)
        if self.has_values and unwritten:
            absent["values"] = unwritten_absence(unwritten)
        number = self.add(
            op, kind, phase, inputs, outputs=shapes(tensors), missing=absent, **fields
        )
        if self.has_values:
            for output, tensor in enumerate(tensors):
                if output in unwritten:
                    self._unread[number, output] = tensor
                    continue
                self._held[number, output] = tensor
                self._unsorted.append((number, output))
        return number

    def first_output(self, number: int) -> Any:
        """The tensor that a node yields first; None where it is not held."""
        return self._held.get((number, 0))

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

    def array(self, slot: Slot) -> AnyArray:
        """What a slot was seen to hold."""
        known = self._known.get(slot)
        if known is None:
            return array_of(self._held[slot])
        return known

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
        arrays = list(map(self.array, slots))
        return summarise_all(arrays, [dtype_of(self._held[slot]) for slot in slots])


def holds_sum_of(spread: AnyArray, made: AnyArray) -> bool:
    """Whether an array may be another one whose elements are spread, or added up, over zeros."""
    wide, narrow = spread.astype(np.float64), made.astype(np.float64)
    if spread.size <= made.size or not np.isfinite(wide).all() or not narrow.any():
        return False
    scale = float(np.abs(narrow).sum())
    return abs(float(wide.sum() - narrow.sum())) <= SUMS_AGREE * scale


SUMS_AGREE = 1e-5
"""How far two sums in single precision may be apart, relative to that of the magnitudes."""


def _storage(tensor: Any) -> int:
    address: int = tensor.untyped_storage().data_ptr()
    return address


def _elements(tensor: Any) -> Any:
    """The key that two tensors share when they show the same elements in the same order."""
    return tensor.data_ptr(), tuple(tensor.shape), tensor.dtype, tuple(tensor.stride())
