"""What proves the values of a tape: each operator that was seen, called once more."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from explorer.engines.capture.builder import Slot
from explorer.engines.capture.proof import IN_PLACE, NO_PRIMITIVE, Operand, Recorded, Rerun
from explorer.engines.mindspore.errors import message_proper
from explorer.engines.mindspore.net import array_of, own_copy
from explorer.engines.mindspore.operators import written_operands
from explorer.engines.mindspore.primitives import unrepeatable
from explorer.engines.mindspore.tape_tensors import OperatorCall
from explorer.engines.mindspore.tape_values import TensorGraph

UNANNOUNCED = "MindSpore reports no operator for it"


class Pullback(NamedTuple):
    """A node of the tape that yields gradients which no operator was seen to make.

    ``forward`` is the number of the operator that it derives from. ``cotangents`` are the gradients
    that arrive, by output of that operator; ``places`` are the operands whose gradients the node
    yields.
    """

    forward: int
    cotangents: dict[int, Slot]
    places: tuple[int, ...]


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

    def recorded(self, overwritten: dict[Slot, Slot]) -> Recorded:
        """The recorded values, and how each node is computed again."""
        recorded = Recorded(array_of, own_copy, overwritten=overwritten, message_of=message_proper)
        recorded.outputs.update(self._graph.recorded_values())
        for number, (call, inputs) in self._calls.items():
            recorded.reruns[number] = self._of_call(call, inputs)
        for number, addends in self._sums.items():
            recorded.reruns[number] = Rerun(self._operands(addends), _sum)
        for number, original in self._copies.items():
            operands = self._operands((original,))
            recorded.reruns[number] = Rerun(operands, list, excuse=UNANNOUNCED)
        for number, pullback in self._pullbacks.items():
            recorded.reruns[number] = self._of_pullback(pullback)
        return recorded

    def _of_call(self, call: OperatorCall, inputs: tuple[Slot, ...]) -> Rerun | str:
        reason = unrepeatable(call.op)
        if reason:
            return reason
        # Which version of an overwritten tensor an operator read is known of the last one alone.
        excuse = IN_PLACE if any(map(self._graph.is_overwritten, inputs)) else ""
        writes = written_operands(call.op) is not None
        return Rerun(self._operands(inputs), call.run, writes, "" if writes else excuse)

    def _of_pullback(self, pullback: Pullback) -> Rerun | str:
        if pullback.forward not in self._calls:
            return NO_PRIMITIVE
        call, inputs = self._calls[pullback.forward]
        reason = unrepeatable(call.op)
        if reason:
            return reason  # its forward would draw other numbers than those that were saved
        outputs = list(pullback.cotangents)

        def compute(values: list[Any]) -> list[Any]:
            cotangents = dict(zip(outputs, values, strict=False))
            gradients = call.pull_back(values[len(outputs) :], cotangents)
            if max(pullback.places) >= len(gradients):
                raise ValueError(
                    f"recomputed on its own it gives {len(gradients)} gradients, and more in the graph"
                )
            return [gradients[place] for place in pullback.places]

        return Rerun(self._operands((*pullback.cotangents.values(), *inputs)), compute)

    def _operands(self, slots: Sequence[Slot]) -> tuple[Operand, ...]:
        return tuple(Operand(slot, self._tensor(slot)) for slot in slots)

    def _tensor(self, slot: Slot) -> Any:
        if slot not in self._tensors:
            self._tensors[slot] = self._graph.tensor_of(slot)
        return self._tensors[slot]


def _sum(addends: list[Any]) -> list[Any]:
    total = addends[0]
    for addend in addends[1:]:
        total = total + addend
    return [total]
