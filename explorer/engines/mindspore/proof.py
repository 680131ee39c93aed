"""What proves the values of MindSpore's graphs: each operator of a tape or of a program, run alone."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import mindspore as ms
import numpy as np
from mindspore.ops.primitive import _run_op

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.capture.proof import GraphValues, Operand, Rerun, UnprovenError
from explorer.engines.mindspore import errors
from explorer.engines.mindspore.ir.records import (
    Scalar,
    SequenceValue,
    StringValue,
    Symbol,
    Value,
)
from explorer.engines.mindspore.ir_statements import Binding, IRStatement, slots_of
from explorer.engines.mindspore.kernel_values import KernelValues
from explorer.engines.mindspore.net import array_of, own_copy, tensor_like
from explorer.engines.mindspore.operators import (
    draws_random_numbers,
    unwritten_outputs,
    written_operands,
)
from explorer.engines.mindspore.tape_tensors import OperatorCall, TensorGraph, tensors_in
from explorer.engines.mindspore.views import VIEWS
from explorer.engines.nested import replaced
from explorer.model.arrays import AnyArray, carrier, unpack
from explorer.model.failures import Failure
from explorer.model.graph import Absence, NodeKind, ProofGap

MONADS = frozenset({"UMonad", "IOMonad"})
"""The types of operands that only order side effects."""

COMMUNICATING_OP = re.compile(
    r"^(All(Reduce|Gather|toAll)|ReduceScatter|Broadcast(?!To)|Send|Receive|Barrier|NeighborExch)"
)

NONE = "None"
"""How the IR writes Python's None."""


@dataclass(frozen=True)
class TensorArgument:
    """The place of a tensor among arguments: the slot that it comes from."""

    slot: Slot


def unrepeatable(op: str) -> Absence | None:
    """Why an operator yields something else when it runs again."""
    if draws_random_numbers(op):
        return Absence("random")
    if COMMUNICATING_OP.search(op):
        return Absence("communicates")
    return None


def arguments(statement: IRStatement, bindings: Sequence[Binding]) -> list[Any]:
    """The arguments of a statement's primitive, nested as they are given.

    ``bindings`` are those of its operands. Raises UnprovenError where an operand is nothing that
    Python could hand to a primitive.
    """
    given = []
    for operand, binding, abstract in zip(
        statement.operands, bindings, statement.node.inputs, strict=True
    ):
        if abstract.type.name not in MONADS:
            given.append(_argument(operand, binding))
    return given


def _argument(value: Value | None, binding: Binding) -> Any:
    """One argument; ``value`` is None for an item of a tuple that the program has made."""
    if isinstance(binding, tuple):
        return TensorArgument(binding)
    if isinstance(value, SequenceValue):
        items = binding if isinstance(binding, list) else [None] * len(value.values)
        return tuple(map(_argument, value.values, items))
    if isinstance(binding, list):
        return tuple(_argument(None, item) for item in binding)
    if value is not None:
        return python_value(value)
    raise UnprovenError(Absence("mixed_tuple"))


def python_value(value: Value) -> Any:
    """A constant of the IR as Python has it; raises UnprovenError for a function or a type."""
    if isinstance(value, Scalar):
        return value.number
    if isinstance(value, StringValue):
        return value.value
    if isinstance(value, SequenceValue):
        return tuple(map(python_value, value.values))
    if isinstance(value, Symbol) and value.text == NONE:
        return None
    raise UnprovenError(Absence("odd_operand", type(value).__name__))


def tensor_slots(nested: Any) -> Iterator[Slot]:
    """The slots of the tensors among nested arguments, from left to right."""
    if isinstance(nested, TensorArgument):
        yield nested.slot
    elif isinstance(nested, (list, tuple)):
        for item in nested:
            yield from tensor_slots(item)


def with_tensors(nested: Any, tensors: Iterator[Any]) -> Any:
    """Nested arguments with the next of ``tensors`` in each place of one."""

    def fill(value: Any) -> Any:
        return next(tensors) if isinstance(value, TensorArgument) else value

    return replaced(nested, fill)


class RecordedCall(NamedTuple):
    """An operator as it was called: ``values`` in the order of its definition, and ``attributes``."""

    op: str
    values: tuple[Any, ...]
    attributes: Mapping[str, Any]

    def run(self) -> list[Any]:
        """The tensors that the operator yields, alone; raises what it raises."""
        if self.op in VIEWS:
            tensor, *others = self.values
            views = VIEWS[self.op](array_of(tensor), *others)
            return [tensor_like(view, tensor.dtype) for view in views]
        primitive = ms.ops.Primitive(self.op)
        for name, value in self.attributes.items():
            primitive.add_prim_attr(name, value)
        return list(tensors_in((_run_op(primitive, self.op, self.values),)))


def calls_by_node(
    builder: GraphBuilder, call_of: Callable[[int], RecordedCall | None], nodes: Iterable[str]
) -> dict[str, RecordedCall]:
    """The calls of the nodes with these ids; ``call_of`` has that of a node by its number."""
    numbers = {node: number for number, node in builder.ids().items()}
    calls = {}
    for node in nodes:
        call = call_of(numbers[node]) if node in numbers else None
        if call is not None:
            calls[node] = call
    return calls


def call_of_statement(statement: IRStatement, values: tuple[Any, ...]) -> RecordedCall:
    """The call of a statement's primitive with ``values``.

    Raises UnprovenError where an attribute is nothing that Python could hand on.
    """
    attributes = {}
    for name, value in statement.node.attrs.items():
        if isinstance(value, SequenceValue) and _holds_symbols(value):
            continue  # the names of inputs and outputs
        attributes[name] = python_value(value)
    return RecordedCall(statement.op, values, attributes)


def _holds_symbols(value: SequenceValue) -> bool:
    return any(isinstance(item, Symbol) for item in value.values)


DIGITS = 6
"""The digits of a number in the IR (2.10.0): one with fewer is whole."""


class GraphReruns:
    """The statements of a program and the values that its kernels dumped, by the graph's nodes."""

    def __init__(self, builder: GraphBuilder, values: KernelValues) -> None:
        self._builder = builder
        self._values = values
        self._statements: dict[int, tuple[IRStatement, list[Binding]]] = {}
        self._arrays: dict[Slot, AnyArray] = {}
        self._writers: dict[Slot, set[int]] = {}
        self._tensors: dict[Slot, Any] = {}

    def note_array(self, slot: Slot, array: AnyArray) -> None:
        """Note the values of an input or a parameter, as they were before the run."""
        self._arrays[slot] = array

    def note(self, number: int, statement: IRStatement, inputs: list[Binding]) -> None:
        """Note the statement of a node, and the bindings of its operands."""
        self._statements[number] = statement, inputs
        dumped = {**self._values.of(statement), **self._values.workspaces(statement)}
        for slot, array in dumped.items():
            _, dtype = statement.outputs[slot]
            self._arrays[number, slot] = array.astype(carrier(dtype), copy=False)
        written = written_operands(statement.op)
        if written is not None:
            for operand in list(slots_of(inputs))[written]:
                self._writers.setdefault(operand, set()).add(number)

    def recorded(
        self, shown_by: Callable[[Slot], Slot], overwritten: dict[Slot, Slot]
    ) -> GraphValues:
        """The recorded values, and how each node is computed again.

        ``shown_by`` gives the slot whose value a slot shows, ``overwritten`` is that of GraphValues.
        """
        recorded = GraphValues(
            array_of,
            own_copy,
            _tensor_of,
            overwritten=overwritten,
            may_be_swapped=True,
            rounds_late=True,
            stated=errors.statement,
        )
        for slot, array in self._arrays.items():
            recorded.outputs[slot] = array
        for number, (statement, inputs) in self._statements.items():
            recorded.reruns[number] = self._rerun(number, statement, inputs, shown_by)
            if self._values.repeats(statement):
                recorded.repeated.add(number)
        return recorded

    def _rerun(
        self,
        number: int,
        statement: IRStatement,
        inputs: list[Binding],
        shown_by: Callable[[Slot], Slot],
    ) -> Rerun | Absence:
        reason = unrepeatable(statement.op)
        if reason:
            return reason
        try:
            given = arguments(statement, inputs)
        except UnprovenError as error:
            return error.absence

        def compute(tensors: list[Any]) -> list[Any]:
            values = with_tensors(tuple(given), iter(tensors))
            return call_of_statement(statement, values).run()

        slots = list(tensor_slots(given))
        shown = map(shown_by, slots)
        operands = [Operand(slot, self._tensor(slot)) for slot in shown]
        excuse: ProofGap | None = None
        # What reads an operand that was computed again later read another value than it shows.
        if any(map(self._repeats, (number, *(slot[0] for slot, _ in operands if slot)))):
            excuse = "repeated"
        elif _rounds_a_scalar(statement, given):
            excuse = "single_precision"  # a compiled graph takes its constants whole (2.10.0)
        elif any(map(self._is_cut, slots)):
            excuse = "cut_constant"
        elif any(self._writers.get(slot, set()) - {number} for slot in slots):
            excuse = "overwritten_operand"
        writes = written_operands(statement.op) is not None
        return Rerun(tuple(operands), compute, writes, excuse)

    def call_of(self, shown_by: Callable[[Slot], Slot], number: int) -> RecordedCall | None:
        """The operator of a node with its recorded inputs; None where that is not known."""
        if number not in self._statements:
            return None
        statement, inputs = self._statements[number]
        if unrepeatable(statement.op):
            return None
        try:
            given = tuple(arguments(statement, inputs))
            tensors = [self._tensor(shown_by(slot)) for slot in tensor_slots(given)]
            call = call_of_statement(statement, with_tensors(given, iter(tensors)))
        except UnprovenError:
            return None
        return None if any(tensor is None for tensor in tensors) else call

    def compute(self, shown_by: Callable[[Slot], Slot], number: int) -> Absence | None:
        """Compute the values of a node from those of its operands; returns why some are missing."""
        rerun = self._rerun(number, *self._statements[number], shown_by)
        if isinstance(rerun, Absence):
            return rerun
        if any(operand.value is None for operand in rerun.operands):
            return Absence("no_input")
        try:
            tensors = rerun.compute([own_copy(operand.value) for operand in rerun.operands])
        except UnprovenError as error:
            return error.absence
        except Exception as error:
            return Absence("raises_alone", error=Failure(type(error).__name__, str(error)))
        statement, _ = self._statements[number]
        if len(tensors) != len(statement.outputs):
            return Absence("no_tensor")
        for place, tensor in enumerate(tensors):
            self.note_array((number, place), array_of(tensor).copy())
        return None

    def unwritten(self, number: int) -> tuple[int, ...]:
        """The outputs of a node that hold no result; other operators may read them all the same."""
        statement, _ = self._statements[number]
        return unwritten_outputs(statement.op, statement.flags)

    def array(self, slot: Slot) -> AnyArray | None:
        """The recorded values of a slot; None where there are none."""
        return self._arrays.get(slot)

    def is_backward(self, number: int) -> bool:
        """Whether the compiler made the operator of a node for a gradient."""
        return number in self._statements and self._statements[number][0].marked_backward

    def size(self) -> int:
        """The bytes of all recorded values."""
        return sum(array.nbytes for array in self._arrays.values())

    def _repeats(self, number: int) -> bool:
        """Whether the kernel of a node ran several times."""
        return number in self._statements and self._values.repeats(self._statements[number][0])

    def _is_cut(self, slot: Slot) -> bool:
        """Whether a slot is a constant in double precision that the IR may have cut."""
        number, output = slot
        shown = self._builder.nodes[number].outputs[output]
        if self._builder.nodes[number].kind != "constant" or shown.dtype != "float64":
            return False
        if shown.values is None or shown.values.whole is None:
            return True
        return any(
            float(f"{value:.{DIGITS - 1}g}") != value for value in unpack(shown.values.whole).flat
        )

    def _tensor(self, slot: Slot) -> Any:
        """The recorded value of a slot as a tensor; None where it was not observed."""
        if slot not in self._tensors:
            self._tensors[slot] = self._made(slot)
        return self._tensors[slot]

    def _made(self, slot: Slot) -> Any:
        number, output = slot
        shown = self._builder.nodes[number].outputs[output]
        array = self._arrays.get(slot)
        if array is None and shown.values is not None and shown.values.whole is not None:
            array = unpack(shown.values.whole)  # a constant
        if array is None:
            return None
        return _tensor_of(array, shown.dtype)


def _tensor_of(array: AnyArray, dtype: str) -> Any:
    """A recorded array as a tensor of that dtype."""
    return tensor_like(array, ms.bool_ if dtype == "bool" else getattr(ms, dtype))


def _rounds_a_scalar(statement: IRStatement, given: list[Any]) -> bool:
    """Whether an operator on float64 tensors takes a Python float that single precision rounds."""
    if all(dtype != "float64" for _, dtype in statement.outputs):
        return False
    floats = [value for value in given if isinstance(value, float)]
    return any(float(np.float32(value)) != value for value in floats)


class Pullback(NamedTuple):
    """A node of the tape that yields gradients which no operator was seen to make.

    ``forward`` is the number of the operator that it derives from. ``cotangents`` are the gradients
    that arrive, by output of that operator; ``places`` are the operands whose gradients the node
    yields.
    """

    forward: int
    cotangents: dict[int, Slot]
    places: tuple[int, ...]


LEAVES: frozenset[NodeKind] = frozenset({"input", "parameter", "constant"})
"""The kinds of nodes that hold a tensor and compute nothing."""


class TapeReruns:
    """The operators of a tape, by the graph's nodes that stand for them."""

    def __init__(self, graph: TensorGraph) -> None:
        self._graph = graph
        self._calls: dict[int, tuple[OperatorCall, tuple[Slot, ...]]] = {}
        self._sums: dict[int, tuple[Slot, ...]] = {}
        self._copies: dict[int, Slot] = {}
        self._pullbacks: dict[int, Pullback] = {}
        self._tensors: dict[Slot, Any] = {}

    def note_call(self, number: int, call: OperatorCall, inputs: tuple[Slot, ...]) -> None:
        """Note the operator of a node, and the slots of its operands."""
        self._calls[number] = call, inputs

    def note_sum(self, number: int, addends: tuple[Slot, ...]) -> None:
        """Note a sum of gradients for which no operator was announced."""
        self._sums[number] = addends

    def note_copy(self, number: int, original: Slot) -> None:
        """Note a node of the tape without an operator: a copy of ``original``, or a view of it."""
        self._copies[number] = original

    def note_pullback(self, number: int, pullback: Pullback) -> None:
        """Note a node of the tape that announced no operator."""
        self._pullbacks[number] = pullback

    def recorded(self, overwritten: dict[Slot, Slot]) -> GraphValues:
        """The recorded values, and how each node is computed again."""
        recorded = GraphValues(array_of, own_copy, overwritten=overwritten, stated=errors.statement)
        recorded.outputs.update(self._graph.recorded_values())
        for number, (call, inputs) in self._calls.items():
            recorded.reruns[number] = self._of_call(call, inputs)
        for number, addends in self._sums.items():
            recorded.reruns[number] = Rerun(self._operands(addends), _sum)
        for number, original in self._copies.items():
            operands = self._operands((original,))
            recorded.reruns[number] = Rerun(operands, list, excuse="unannounced")
        for number, pullback in self._pullbacks.items():
            recorded.reruns[number] = self._of_pullback(pullback)
        return recorded

    def arguments_of(self, number: int) -> tuple[Any, ...]:
        """What the operator of a node was called with; KeyError where there is none."""
        call, _ = self._calls[number]
        return call.args

    def call_of(self, number: int) -> RecordedCall | None:
        """The operator of a node with its recorded inputs; None where that is not known.

        A leaf, and a copy that nobody announced, is the view of its own shape.
        """
        slot = number, 0
        if number in self._copies or self._graph.nodes[number].kind in LEAVES:
            return _as_view(self._tensor(self._copies.get(number, slot)), self._tensor(slot))
        if number not in self._calls:
            return None
        call, inputs = self._calls[number]
        tensors = [operand.value for operand in self._operands(inputs)]
        if unrepeatable(call.op) or any(tensor is None for tensor in tensors):
            return None
        attributes = {} if call.primitive is None else dict(call.primitive.attrs)
        return RecordedCall(call.op, call.values_with(tensors), attributes)

    def _of_call(self, call: OperatorCall, inputs: tuple[Slot, ...]) -> Rerun | Absence:
        reason = unrepeatable(call.op)
        if reason:
            return reason
        # Which version of an overwritten tensor an operator read is known of the last one alone.
        writes = written_operands(call.op) is not None
        excuse: ProofGap | None = None
        if not writes and any(map(self._graph.is_overwritten, inputs)):
            excuse = "overwritten_operand"
        return Rerun(self._operands(inputs), call.run, writes, excuse)

    def _of_pullback(self, pullback: Pullback) -> Rerun | Absence:
        if pullback.forward not in self._calls:
            return Absence("no_operator")
        call, inputs = self._calls[pullback.forward]
        reason = unrepeatable(call.op)
        if reason:
            return reason  # its forward would draw other numbers than those that were saved
        outputs = list(pullback.cotangents)

        def compute(values: list[Any]) -> list[Any]:
            cotangents = dict(zip(outputs, values, strict=False))
            gradients = call.pull_back(values[len(outputs) :], cotangents)
            if max(pullback.places) >= len(gradients):
                raise UnprovenError(Absence("fewer_gradients", str(len(gradients))))
            return [gradients[place] for place in pullback.places]

        # The tape may have kept an operand as it was, or its memory as it is by now.
        excuse: ProofGap | None = None
        if any(map(self._graph.is_overwritten, inputs)):
            excuse = "overwritten_operand"
        operands = self._operands((*pullback.cotangents.values(), *inputs))
        return Rerun(operands, compute, excuse=excuse)

    def _operands(self, slots: Sequence[Slot]) -> tuple[Operand, ...]:
        return tuple(Operand(slot, self._tensor(slot)) for slot in slots)

    def _tensor(self, slot: Slot) -> Any:
        if slot not in self._tensors:
            self._tensors[slot] = self._graph.tensor_of(slot)
        return self._tensors[slot]


def _as_view(original: Any, copy: Any) -> RecordedCall | None:
    """A copy as the view of the tensor that it was made of, in its shape; None where that holds others."""
    if original is None or copy is None:
        return None
    if not np.array_equal(array_of(original).ravel(), array_of(copy).ravel()):
        return None
    return RecordedCall("View", (original, copy.shape), {})


def _sum(addends: list[Any]) -> list[Any]:
    total = addends[0]
    for addend in addends[1:]:
        total = total + addend
    return [total]
