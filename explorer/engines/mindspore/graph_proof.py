"""What proves the values of a compiled graph: each statement's primitive, run alone."""

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.capture.proof import (
    CONTROL_FLOW,
    IN_PLACE,
    NO_PRIMITIVE,
    Operand,
    Recorded,
    Rerun,
)
from explorer.engines.mindspore.errors import message_proper
from explorer.engines.mindspore.ir_bindings import Binding, slots_of
from explorer.engines.mindspore.ir_statements import IRStatement
from explorer.engines.mindspore.kernel_values import KernelValues
from explorer.engines.mindspore.net import array_of, own_copy, tensor_like
from explorer.engines.mindspore.operators import written_operands
from explorer.engines.mindspore.primitives import (
    NoArgumentError,
    arguments,
    run_alone,
    tensor_slots,
    unrepeatable,
    with_tensors,
)
from explorer.model.arrays import AnyArray, carrier, unpack

SINGLE_SCALAR = "recomputed on its own, it takes a float64 constant in single precision"
"""Why another value does not refute one: a compiled graph takes its own constants whole (2.10.0)."""

CUT_CONSTANT = "the compiler's output gives its constant with six digits only"
"""Why another value does not refute one that was computed with the whole constant."""

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

    def recorded(self, shown_by: Callable[[Slot], Slot], overwritten: dict[Slot, Slot]) -> Recorded:
        """The recorded values, and how each node is computed again.

        ``shown_by`` gives the slot whose value a slot shows, ``overwritten`` is that of Recorded.
        """
        recorded = Recorded(
            array_of,
            own_copy,
            overwritten=overwritten,
            may_be_swapped=True,
            message_of=message_proper,
        )
        for slot, array in self._arrays.items():
            recorded.outputs[slot] = array
        for number, (statement, inputs) in self._statements.items():
            recorded.reruns[number] = self._rerun(number, statement, inputs, shown_by)
        return recorded

    def _rerun(
        self,
        number: int,
        statement: IRStatement,
        inputs: list[Binding],
        shown_by: Callable[[Slot], Slot],
    ) -> Rerun | str:
        reason = unrepeatable(statement.op)
        if reason:
            return reason
        try:
            given = arguments(statement, inputs)
        except NoArgumentError as error:
            return f"{NO_PRIMITIVE}: {error}"

        def compute(tensors: list[Any]) -> list[Any]:
            return run_alone(statement, with_tensors(tuple(given), iter(tensors)))

        operands = []
        excuse = CONTROL_FLOW if self._values.repeats(statement) else ""
        if _rounds_a_scalar(statement, given):
            excuse = excuse or SINGLE_SCALAR
        if any(map(self._is_cut, tensor_slots(given))):
            excuse = excuse or CUT_CONSTANT
        for slot in tensor_slots(given):
            operands.append(Operand(slot, self._tensor(shown_by(slot))))
            if self._writers.get(slot, set()) - {number}:
                excuse = excuse or IN_PLACE
        writes = written_operands(statement.op) is not None
        return Rerun(tuple(operands), compute, writes, excuse)

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
        dtype = getattr(ms, "bool_" if shown.dtype == "bool" else shown.dtype)
        return tensor_like(array, dtype)


def _rounds_a_scalar(statement: IRStatement, given: list[Any]) -> bool:
    """Whether an operator on float64 tensors takes a Python float that single precision rounds."""
    if all(dtype != "float64" for _, dtype in statement.outputs):
        return False
    floats = [value for value in given if isinstance(value, float)]
    return any(float(np.float32(value)) != value for value in floats)
