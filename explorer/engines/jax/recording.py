"""The operations of a gradient as they ran, each with its values and where these come from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import jax
import numpy as np
from jax._src import core

from explorer.engines.jax.marks import Note
from explorer.engines.jax.rule_numbers import Names, is_transposed, numbered_names, rule_of
from explorer.engines.jax.source_lines import lines_of
from explorer.engines.jax.strided import Strided, Written, strided
from explorer.engines.jax.versions import bound
from explorer.engines.source_lines import Line
from explorer.model.graph import NodeKind, Phase

Origin = tuple[int, int]
"""The origin of an array: the number of a record and that of its output, both from 0."""

Found = tuple[Origin | None, Any]
"""Where an array comes from, None of a number that was written where it is read, and the array."""

BY_INDICES = ("gather", "scatter-add")
"""How JAX reads a slice with steps, and its gradient: the second operand are the indices."""

SUM = "add_any"
"""JAX's operation that adds up gradients."""


@dataclass(frozen=True)
class Place:
    """Where an operation stands: the names around it, and its lines, the innermost first."""

    names: Names = ()
    lines: tuple[Line, ...] = ()

    def inner(self, source: Any) -> "Place":
        """The place of an operation with this ``source``, in a program that runs at this place."""
        lines = lines_of(source.traceback)
        return Place((*self.names, *source.name_stack.stack), (*lines, *self.lines))

    def numbered(self, name: str, number: int) -> "Place":
        """The place of one step of a loop, or of one branch, in an operation that runs at this place."""
        return Place((*self.names, *numbered_names(name, number)), self.lines)


@dataclass
class Record:
    """One operation as it ran, or (``primitive`` None) an array that was there before.

    ``operands`` are all that the operation was given, ``origins`` say where they come from: None for a
    number that was written into it. ``kind`` and ``name`` are those of a node.
    """

    primitive: Any
    params: Mapping[str, Any]
    operands: tuple[Any, ...]
    origins: tuple[Origin | None, ...]
    outputs: list[Any]
    place: Place
    kind: NodeKind
    phase: Phase
    name: str = ""

    @property
    def op(self) -> str:
        """The operation's name, or the kind of an array."""
        return str(self.primitive) if self.primitive else self.kind

    @property
    def rule(self) -> tuple[str, ...]:
        """The numbers of the operation that is differentiated."""
        return rule_of(self.place.names)

    def computed(self, values: Sequence[Any]) -> list[Any]:
        """What the operation yields for other values of the operands that have an origin."""
        remaining = iter(values)
        operands = []
        for operand, origin in zip(self.operands, self.origins, strict=True):
            operands.append(operand if origin is None else next(remaining))
        return run(self.primitive, operands, self.params)


def is_number(origins: Sequence[Origin | None], outputs: Iterable[Any]) -> bool:
    """Whether an operation makes numbers of numbers: they count as written where they are read."""
    return len(origins) > 0 and not any(origins) and not any(map(np.ndim, outputs))


def run(
    primitive: Any,
    operands: Iterable[Any],
    params: Mapping[str, Any],
    trace: Any = core.eval_trace,
) -> list[Any]:
    """What a primitive yields in one of JAX's traces, by default in none, whatever else is being traced."""
    with core.set_current_trace(trace):
        outputs = bound(primitive, operands, params)
    return list(outputs) if primitive.multiple_results else [outputs]


Change = Callable[[int, Record, list[Any], list[Any]], list[Any]]
"""Makes the outputs of a record of its number, the values of its operands, and what it yields."""


def unchanged(number: int, record: Record, values: list[Any], outputs: list[Any]) -> list[Any]:
    """What the record yields."""
    del number, record, values
    return outputs


@dataclass
class Recording:
    """All records of one gradient, in the order in which they ran.

    ``outputs`` and ``gradients`` say where the results come from, by name; None is a result that no
    operation made, whose value is among ``results``. ``state`` is what parameters and the like have become,
    and ``outside`` has the numbers of what a program makes of gradients itself. Of a program, what no result
    depends on is left out, as JAX's compiler does. ``stacks`` are the arrays that a loop puts together of
    what its steps yield, with what these yielded: another loop that reads such an array step by step reads
    that. ``slices`` are those that JAX reads by indices, by the origin of these, and ``needless`` is what
    ran for them alone: these indices, and the zeros that their gradients are added to. ``loops`` are the
    names of loops and branches, by what these have in common with their backward. ``ran_compiled`` says that
    what was computed ran compiled, and operation by operation just to be recorded.
    Loops and branches of one that has no values cannot be followed.
    """

    has_values: ClassVar[bool] = True

    records: list[Record] = field(default_factory=list)
    outputs: dict[str, Origin | None] = field(default_factory=dict)
    gradients: dict[str, Origin | None] = field(default_factory=dict)
    state: dict[str, Origin] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    outside: set[int] = field(default_factory=set)
    is_program: bool = False
    stacks: dict[Origin, Sequence["Found"]] = field(default_factory=dict)
    slices: dict[Origin, Strided] = field(default_factory=dict)
    needless: set[Origin] = field(default_factory=set)
    loops: dict[tuple[Any, ...], str] = field(default_factory=dict)
    ran_compiled: bool = False

    def add_array(
        self, value: Any, kind: NodeKind, name: str = "", phase: Phase = "forward"
    ) -> Origin:
        """A record of an array that was there before."""
        self.records.append(Record(None, {}, (), (), [value], Place(), kind, phase, name))
        return len(self.records) - 1, 0

    def add(
        self,
        primitive: Any,
        params: Mapping[str, Any],
        operands: Sequence[Any],
        origins: Sequence[Origin | None],
        outputs: list[Any],
        place: Place,
    ) -> list[Origin | None]:
        """Record an operation that has run; the origins of its outputs, None of mere numbers."""
        if self.has_values and is_number(origins, outputs):
            return [None] * len(outputs)
        sliced = self._sliced(str(primitive), params, operands, origins)
        if sliced:
            (primitive, params, numbers), read = sliced
            operands = (operands[read], *numbers)
            origins = (origins[read], *(None for _ in numbers))
        kind: NodeKind = "accumulate" if str(primitive) == SUM else "op"
        phase = self.phase_of(place, origins)
        self.records.append(
            Record(primitive, params, tuple(operands), tuple(origins), outputs, place, kind, phase)
        )
        number = len(self.records) - 1
        return [(number, output) for output in range(len(outputs))]

    def _sliced(
        self,
        op: str,
        params: Mapping[str, Any],
        operands: Sequence[Any],
        origins: Sequence[Origin | None],
    ) -> tuple[Written, int] | None:
        """What an operation by indices is as one of a slice, and the place of the operand that it reads."""
        indices = origins[1] if op in BY_INDICES and self.has_values else None
        if indices is None:
            return None
        if op == "gather" and self._is_written(indices):
            gather = partial(run, jax.lax.gather_p, params=params)
            found = strided(params, operands[0].shape, lambda it: gather((it, operands[1]))[0])
            if found:
                self.slices[indices] = found
                self.needless.add(indices)
                return found.written(), 0
        if op == "scatter-add" and indices in self.slices and not np.any(operands[0]):
            self.needless.update(it for it in origins[:1] if it is not None)
            return self.slices[indices].gradient(operands[0].dtype.type(0)), 2
        return None

    def _is_written(self, origin: Origin) -> bool:
        """Whether what is at an origin is computed from numbers that were written alone."""
        record = self.records[origin[0]]
        return bool(record.primitive) and all(
            self._is_written(it) for it in record.origins if it is not None
        )

    def run(self, primitive: Any, operands: Iterable[Any], params: Mapping[str, Any]) -> list[Any]:
        """What an operation that is to be recorded yields."""
        return run(primitive, operands, params)

    def as_returned(
        self, results: Sequence[Found], first: int, outputs: Sequence[Any]
    ) -> list[Origin | None]:
        """The origins of what programs gave that ran in an operation's stead; it returned ``outputs``.

        These are their values then: between them the operation may round otherwise. ``first`` is the
        number of the programs' first record.
        """
        origins = [origin for origin, _ in results]
        for origin, output in zip(origins, outputs, strict=True):
            if origin is not None and origin[0] >= first:
                self.records[origin[0]].outputs[origin[1]] = output
        return origins

    def name_of_loop(self, operation: str, place: Place) -> str:
        """What a loop or a branch at a place is called, its backward too: "scan", "scan_2"."""
        # In each step of a loop around it, it is the same one.
        numbers = tuple(number for number in rule_of(place.names) if "[" not in number)
        key = operation, numbers, place.lines
        if key not in self.loops:
            before = sum(1 for name, *_ in self.loops if name == operation)
            self.loops[key] = f"{operation}_{before + 1}" if before else operation
        return self.loops[key]

    def phase_of(self, place: Place, origins: Sequence[Origin | None]) -> Phase:
        """The phase of an operation at a place that reads what comes from these origins."""
        if is_transposed(place.names):
            return "backward"
        # What has no name of the backward pass, and reads what that pass has made, is part of it.
        reads_backward = any(it and self.records[it[0]].phase == "backward" for it in origins)
        return "backward" if reads_backward else "forward"

    def note(self, note: Note, origins: Sequence[Origin | None], values: Sequence[Any]) -> None:
        """Note what a mark says of arrays; a case has said it all before."""

    def set_gradients(self, gradients: Mapping[str, Origin | None]) -> None:
        """Say where the gradients come from; zeros that nobody asked for belong to the backward pass."""
        self.gradients = dict(gradients)
        for origin in gradients.values():
            record = self.records[origin[0]] if origin else None
            if record and record.primitive and not (record.place.lines or any(record.origins)):
                record.phase = "backward"

    def value(self, origin: Origin) -> Any:
        """The value at an origin."""
        return self.records[origin[0]].outputs[origin[1]]

    def result(self, name: str, origin: Origin | None) -> Any:
        """The value of a result: as the call returned it, where that is known."""
        if name in self.results or origin is None:
            return self.results[name]
        return self.value(origin)

    def shown(self) -> set[int]:
        """The numbers of the records that a graph shows: operations, and the arrays that they read."""
        ends = (*self.outputs.values(), *self.gradients.values(), *self.state.values())
        waiting = [origin[0] for origin in ends if origin is not None]
        needless = self._above(self.needless)
        for number, record in enumerate(self.records):
            has_run = record.primitive and not self.is_program and (number, 0) not in self.stacks
            has_run = has_run and number not in needless
            if f"d{record.name}" in self.gradients or has_run:
                waiting.append(number)
        return self._above((it, 0) for it in waiting)

    def _above(self, origins: Iterable[Origin]) -> set[int]:
        """The numbers of the records at the origins, and of all that these are computed from."""
        waiting = [number for number, _ in origins]
        found = set(waiting)
        while waiting:
            for origin in self.records[waiting.pop()].origins:
                if origin is not None and origin[0] not in found:
                    found.add(origin[0])
                    waiting.append(origin[0])
        return found

    def run_again(
        self,
        leaves: Mapping[str, Any],
        order: Iterable[int] | None = None,
        change: Change = unchanged,
    ) -> "Recording":
        """The same operations on other values of the leaves, by name.

        ``order`` are the numbers of the records in another order. ``change`` is given the number of each
        record, the record, the values of its operands and what it yields of them; it returns what is to
        stand in its place.
        """
        again: dict[int, Record] = {}
        for number in order if order is not None else range(len(self.records)):
            record = self.records[number]
            values = [again[it[0]].outputs[it[1]] for it in record.origins if it is not None]
            outputs = record.outputs
            if record.primitive:
                outputs = record.computed(values)
            elif record.kind in ("input", "parameter") and record.name in leaves:
                outputs = [leaves[record.name]]
            again[number] = replace(record, outputs=change(number, record, values, outputs))
        results = {**self.outputs, **self.gradients}
        unknown = {name: self.results[name] for name, origin in results.items() if origin is None}
        records = [again.get(number, record) for number, record in enumerate(self.records)]
        return replace(self, records=records, results=unknown)
