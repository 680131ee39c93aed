"""Proofs of recorded values: each op is computed again, alone, from its recorded inputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from explorer.engines.capture.builder import GraphBuilder, NodeDraft, Slot
from explorer.engines.failures import Statement
from explorer.model.arrays import AnyArray
from explorer.model.failures import Failure
from explorer.model.graph import Absence, Output, Proof, ProofGap

PROVABLE = frozenset({"op", "accumulate"})
"""The kinds of nodes that compute something."""

MOST_NODES = 200
"""A graph with more op nodes than this is proven only on demand: it would cost more than a second."""

TOLERANCES = {
    "float64": 1e-12,
    "float32": 1e-5,
    "float16": 1e-3,
    "bfloat16": 8e-3,
    "complex64": 1e-5,
    "complex128": 1e-12,
}
"""How far an op may be off when it is computed again, relative to the greatest element.

The same kernel gives the same bits. Where another kernel has to stand in for one that was fused or
expanded, single precision may lose a few digits, and half precision its last one: a compiled graph
hands numbers on between kernels that it does not round to half precision (2.10.0).
"""

HALF = ("float16", "bfloat16")


class UnprovenError(Exception):
    """An op cannot be computed again; ``absence`` says why."""

    def __init__(self, absence: Absence) -> None:
        super().__init__(absence.kind)
        self.absence = absence


class Operand(NamedTuple):
    """An input of an op: the slot that it comes from, and its recorded value in the framework.

    ``value`` is None where it was not observed.
    """

    slot: Slot | None
    value: Any


@dataclass(frozen=True)
class Rerun:
    """An op that can be computed again.

    ``compute`` takes the values of ``operands`` and returns the outputs; where the op ``writes`` to
    operands it is given copies. ``excuse`` says why another result than the recorded one would not
    refute it, None where it would. Of what ``compute`` raises, an UnprovenError says why there is
    no result.
    """

    operands: tuple[Operand, ...]
    compute: Callable[[list[Any]], Sequence[Any]]
    writes: bool = False
    excuse: ProofGap | None = None


@dataclass
class GraphValues:
    """Everything that was recorded of a graph's values.

    ``reruns`` has for each node how it is computed again, or why that cannot be. ``outputs`` are
    the recorded values by slot. ``overwritten`` has the slots that show an operand as an op left
    it, each with the slot of that operand. ``array_of`` reads a value of the framework, ``copy_of``
    copies one into memory of its own, ``value_of`` makes one of a recorded value and its dtype.
    ``stated`` leaves of an error's text what a reader of the net
    understands. Where values ``may_be_swapped``, their order alone decided which of several
    like nodes they belong to; where the graph ``rounds_late``, an op may read a number in half precision
    as it was before it was rounded. ``in_part`` has the slots that show a whole tensor of which an op wrote a
    part: computed alone, the op does not yield them. ``repeated`` are the nodes that ran several
    times, and show their last run.
    """

    array_of: Callable[[Any], AnyArray]
    copy_of: Callable[[Any], Any]
    value_of: Callable[[Any, str], Any] = lambda value, _: value
    reruns: dict[int, Rerun | Absence] = field(default_factory=dict)
    outputs: dict[Slot, Any] = field(default_factory=dict)
    overwritten: dict[Slot, Slot] = field(default_factory=dict)
    in_part: set[Slot] = field(default_factory=set)
    repeated: set[int] = field(default_factory=set)
    may_be_swapped: bool = False
    rounds_late: bool = False
    stated: Callable[[str], Statement] = Statement


def prove(builder: GraphBuilder, recorded: GraphValues, everything: bool = False) -> None:
    """Say of each op of a graph whether its recorded outputs are what it yields.

    A graph of more than MOST_NODES is left unproven, unless ``everything`` is to be proven.
    """
    numbers = [number for number in builder.kept() if builder.nodes[number].kind in PROVABLE]
    if len(numbers) > MOST_NODES and not everything:
        for number in numbers:
            _note(builder.nodes[number], "unproven", Absence("large_graph", str(MOST_NODES)))
        return
    prover = _Prover(builder, recorded)
    for number in numbers:
        _note(builder.nodes[number], *prover.proof(number))
    if recorded.may_be_swapped:
        prover.settle(numbers)


def _note(node: NodeDraft, proof: Proof, absence: Absence | None = None) -> None:
    node.proof = proof
    if absence:
        node.missing = {**node.missing, "proof": absence}


class _Mixed:
    """Nodes that are alike, some of which show values of others.

    ``owners`` says of each node whose values are known which of them shows these.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = tuple(numbers)
        self.owners: dict[int, int] = {}

    def waiting(self) -> list[int]:
        """The nodes whose values are not known yet."""
        return [number for number in self.numbers if number not in self.owners]

    def free(self) -> list[int]:
        """The nodes that show values which are no other's yet."""
        taken = set(self.owners.values())
        return [number for number in self.numbers if number not in taken]


class _Prover:
    """Proves one node after the other, in the order in which they ran."""

    def __init__(self, builder: GraphBuilder, recorded: GraphValues) -> None:
        self._builder = builder
        self._recorded = recorded
        # What refuted nodes should have shown: ops that read the true value are not refuted for it.
        self._corrected: dict[Slot, Any] = {}
        # What nodes show since values that were mixed up have been put in their places.
        self._moved: dict[Slot, Any] = {}

    def proof(self, number: int) -> tuple[Proof, Absence | None]:
        """The proof of a node, and the reason where it is unproven."""
        observed = self._observed(number)
        if not observed:
            outputs = self._builder.nodes[number].outputs
            return "unproven", Absence("no_value" if outputs else "no_tensor")
        rerun = self._recorded.reruns.get(number, Absence("no_operator"))
        if isinstance(rerun, Absence):
            return "unproven", rerun
        values = [self._value(operand) for operand in rerun.operands]
        if any(value is None for value in values):
            return "unproven", Absence("no_input")
        return self._compared(number, rerun, values, observed)

    def settle(self, numbers: Sequence[int]) -> None:
        """Give nodes that are alike the values that each of them yields, where another shows them.

        What a node yields is computed from the values of its operands, which may have been mixed up
        themselves: hence in rounds, until nothing more is known. Then all is proven anew.
        """
        if not self._is_mixed_up(numbers):
            return
        # A node may be proven from values that are themselves another's.
        mixed = list(map(_Mixed, self._alike(numbers)))
        self._corrected.clear()
        known = -1
        while known < sum(len(group.owners) for group in mixed):
            known = sum(len(group.owners) for group in mixed)
            for group in mixed:
                self._assign(group)
        moved = [self._rearrange(group) for group in mixed]
        self._corrected.clear()
        if not any(moved):
            return
        for number in numbers:
            node = self._builder.nodes[number]
            node.missing = {key: why for key, why in node.missing.items() if key != "proof"}
            _note(node, *self.proof(number))

    def _alike(self, numbers: Sequence[int]) -> list[list[int]]:
        """The nodes of each op and form that show all of their outputs, where there are several."""
        alike: dict[Any, list[int]] = {}
        for number in numbers:
            node = self._builder.nodes[number]
            if node.outputs and len(self._observed(number)) == len(node.outputs):
                # The kernel of a loop is not that of a node that runs once.
                repeats = number in self._recorded.repeated
                form = (node.op, repeats, *map(_form, node.outputs))
                alike.setdefault(form, []).append(number)
        return [group for group in alike.values() if len(group) > 1]

    def _is_mixed_up(self, group: Sequence[int]) -> bool:
        return any(self._builder.nodes[number].proof == "refuted" for number in group)

    def _assign(self, group: "_Mixed") -> None:
        """Find the values of the nodes of a group whose operands are known by now."""
        for number in group.waiting():
            yielded = self._yielded(number)
            fitting = [other for other in group.free() if self._shows(other, yielded)]
            if fitting:
                # Where several show them, they are equal, and the node keeps its own.
                owner = number if number in fitting else fitting[0]
                self._own(group, number, owner)
        waiting, free = group.waiting(), group.free()
        if len(waiting) == len(free) == 1 and not self._yielded(waiting[0]):
            self._own(group, waiting[0], free[0])

    def _own(self, group: "_Mixed", number: int, owner: int) -> None:
        group.owners[number] = owner
        for output, shown in enumerate(self._builder.nodes[number].outputs):
            value = self._recorded.outputs[owner, output]
            self._corrected[number, output] = self._recorded.value_of(value, shown.dtype)

    def _yielded(self, number: int) -> dict[int, Any]:
        """What a node yields for the values that its operands are known to have; {} without all."""
        rerun = self._recorded.reruns.get(number)
        if not isinstance(rerun, Rerun) or rerun.excuse:
            return {}
        values = self._correct(rerun) or [self._value(operand) for operand in rerun.operands]
        if any(value is None for value in values):
            return {}
        try:
            computed = self._computed(number, rerun, values)
        except Exception:
            return {}  # the proof of the node says why
        return {output: value for (node, output), value in computed.items() if node == number}

    def _shows(self, number: int, yielded: dict[int, Any]) -> bool:
        observed = {}
        computed = {}
        for output, value in yielded.items():
            slot = number, output
            if slot not in self._recorded.outputs:
                return False
            observed[slot] = self._recorded.outputs[slot]
            computed[slot] = value
        return bool(yielded) and self._agree(observed, computed, 0.0)

    def _rearrange(self, group: "_Mixed") -> bool:
        """Give each node of a group the outputs of the one that shows its values."""
        if all(number == owner for number, owner in group.owners.items()):
            return False
        if any(self._yielded(number) for number in group.waiting()):
            return False  # what one of them yields is nowhere: the values are no mere mix-up
        shown = {number: self._builder.nodes[number].outputs for number in group.numbers}
        held = self._recorded.outputs.copy()
        for number in group.numbers:
            node = self._builder.nodes[number]
            owner = group.owners.get(number)
            for output, form in enumerate(shown[number]):
                slot = number, output
                if owner is None:
                    # Somebody else's values may be what it shows.
                    self._recorded.outputs.pop(slot)
                    self._moved[slot] = None
                else:
                    value = held[owner, output]
                    self._recorded.outputs[slot] = value
                    self._moved[slot] = self._recorded.value_of(value, form.dtype)
            if owner is None:
                node.outputs = tuple(Output(one.shape, one.dtype) for one in shown[number])
                node.missing = {**node.missing, "values": Absence("ambiguous_kernel")}
            else:
                node.outputs = shown[owner]
        return True

    def _compared(
        self, number: int, rerun: Rerun, values: list[Any], observed: dict[Slot, Any]
    ) -> tuple[Proof, Absence | None]:
        try:
            computed = self._computed(number, rerun, values)
            reach = self._reach(values)
            if self._agree(observed, computed, reach):
                return "proven", None
            corrected = self._correct(rerun)
            if corrected and self._agree(observed, self._computed(number, rerun, corrected), reach):
                return "proven", None
            first = {slot: computed[slot] for slot in observed if slot in computed}
            if not self._agree(first, self._computed(number, rerun, values), reach):
                return "unproven", Absence("unsteady")
            if self._recorded.rounds_late and self._agree(
                observed, computed, reach, self._moves(number, rerun, values, computed)
            ):
                return "proven", None
        except UnprovenError as error:
            return "unproven", error.absence
        except Exception as error:
            # What an op raises when it is run alone is a reason, and not a fault of the capture.
            return "unproven", Absence("raises_alone", error=self._failure(error))
        return self._contradicted(rerun, observed, computed, reach)

    def _contradicted(
        self, rerun: Rerun, observed: dict[Slot, Any], computed: dict[Slot, Any], reach: float
    ) -> tuple[Proof, Absence | None]:
        """What an op that yields something else than was recorded is: excused, or refuted."""
        if rerun.excuse:
            return "unproven", Absence(rerun.excuse)
        own = observed.copy()
        for slot in self._recorded.in_part:
            own.pop(slot, None)
        if len(own) < len(observed) and self._agree(own, computed, reach):
            return "unproven", Absence("written_in_part")
        for slot, value in computed.items():
            self._corrected[slot] = self._recorded.copy_of(value)
        return "refuted", None

    def _value(self, operand: Operand) -> Any:
        """The recorded value of an operand, in the framework."""
        if operand.slot in self._moved:
            return self._moved[operand.slot]
        return operand.value

    def _observed(self, number: int) -> dict[Slot, Any]:
        """The recorded values that a node shows."""
        observed = {}
        for output, shown in enumerate(self._builder.nodes[number].outputs):
            slot = number, output
            if shown.values is not None and slot in self._recorded.outputs:
                observed[slot] = self._recorded.outputs[slot]
        return observed

    def _correct(self, rerun: Rerun) -> list[Any]:
        """The values of the operands, with those of refuted nodes computed again; [] without any."""
        values = []
        is_corrected = False
        for operand in rerun.operands:
            value = self._value(operand)
            if operand.slot in self._corrected:
                value = self._corrected[operand.slot]
                is_corrected = True
            values.append(value)
        return values if is_corrected else []

    def _computed(self, number: int, rerun: Rerun, values: list[Any]) -> dict[Slot, Any]:
        """The outputs of a node, and the operands that it has overwritten, by their slots."""
        if rerun.writes:
            values = self._copies(values)
        computed: dict[Slot, Any] = {}
        for output, value in enumerate(rerun.compute(values)):
            computed[number, output] = value
        slots = [operand.slot for operand in rerun.operands]
        for slot, source in self._recorded.overwritten.items():
            if slot[0] == number and source in slots:
                computed[slot] = values[slots.index(source)]
        return computed

    def _copies(self, values: list[Any]) -> list[Any]:
        """Copies of values; one that occurs twice stays one."""
        copies: dict[int, Any] = {}
        for value in values:
            copies[id(value)] = self._recorded.copy_of(value)
        return [copies[id(value)] for value in values]

    def _reach(self, values: list[Any]) -> float:
        """The greatest element of the operands: a sum in half precision may lose its last place."""
        reach = 0.0
        for value in values:
            array = self._recorded.array_of(value)
            if array.dtype.kind == "f" and array.size:
                finite = array[np.isfinite(array)]
                reach = max(reach, float(np.abs(finite).max(initial=0.0)))
        return reach

    def _agree(
        self,
        observed: dict[Slot, Any],
        computed: dict[Slot, Any],
        reach: float,
        moves: Mapping[Slot, AnyArray] = MappingProxyType({}),
    ) -> bool:
        array_of = self._recorded.array_of
        for slot, value in observed.items():
            if slot not in computed:
                return False
            dtype = self._builder.nodes[slot[0]].outputs[slot[1]].dtype
            yielded = array_of(computed[slot])
            if not agrees(array_of(value), yielded, dtype, reach, moves.get(slot)):
                return False
        return True

    def _moves(
        self, number: int, rerun: Rerun, values: list[Any], computed: dict[Slot, Any]
    ) -> dict[Slot, AnyArray]:
        """How far the outputs may be off because operands in half precision were not rounded yet.

        Each element of such an operand is off by one in its last place at most.
        """
        moves: dict[Slot, AnyArray] = {}
        for place, operand in enumerate(rerun.operands):
            if operand.slot is None or self._dtype(operand.slot) not in HALF:
                continue
            ends = []
            for sign in (1, -1):
                moved = values.copy()
                moved[place] = self._moved_by_a_place(operand.slot, values[place], sign)
                ends.append(self._computed(number, rerun, moved))
            for slot in computed:
                shift = self._greatest_move(slot, computed, ends)
                moves[slot] = moves.get(slot, np.zeros_like(shift)) + shift
        return moves

    def _dtype(self, slot: Slot) -> str:
        """The dtype of a recorded value."""
        return self._builder.nodes[slot[0]].outputs[slot[1]].dtype

    def _moved_by_a_place(self, slot: Slot, value: Any, sign: int) -> Any:
        """A value in half precision whose elements are larger or smaller by one in the last place."""
        array = self._recorded.array_of(value)
        dtype = self._dtype(slot)
        # A bfloat16 comes as the float32 whose upper half it is.
        place = np.spacing(np.abs(array)) * (2.0**16 if dtype == "bfloat16" else 1.0)
        return self._recorded.value_of((array + sign * place).astype(array.dtype), dtype)

    def _greatest_move(
        self, slot: Slot, computed: dict[Slot, Any], moved: list[dict[Slot, Any]]
    ) -> AnyArray:
        """By how much an output has moved at most, element by element."""
        array_of = self._recorded.array_of
        still = array_of(computed[slot]).astype(np.float64)
        shifts = [np.abs(array_of(end[slot]).astype(np.float64) - still) for end in moved]
        greatest: AnyArray = np.maximum(*shifts)
        return greatest

    def _failure(self, error: Exception) -> Failure:
        """The record of what an op raises alone, with the first line of its message."""
        message, kind, details, _ = self._recorded.stated(str(error))
        first = message.strip().partition("\n")[0].strip()
        return Failure(type(error).__name__, first, kind=kind, details=details)


def _form(output: Output) -> tuple[tuple[int, ...], str]:
    return output.shape, output.dtype


def agrees(
    recorded: AnyArray,
    computed: AnyArray,
    dtype: str,
    reach: float = 0.0,
    moves: AnyArray | None = None,
) -> bool:
    """Whether an op computed again yields what was recorded, up to its own rounding.

    ``dtype`` is that of the tensor, which the arrays may carry in a wider one. In half precision the
    rounding is that of operands which may be as large as ``reach``; ``moves`` says of each element
    how far it may be off beyond that.
    """
    if recorded.shape != computed.shape:
        return False
    if np.array_equal(recorded, computed):
        return True
    if recorded.dtype.kind not in "fc" or computed.dtype.kind not in "fc":
        return False
    finite = np.isfinite(recorded)
    if not np.array_equal(recorded[~finite], computed[~finite], equal_nan=True):
        return False
    wide = np.result_type(recorded.dtype, np.float64)
    expected, given = computed[finite].astype(wide), recorded[finite].astype(wide)
    scale = float(np.abs(expected).max(initial=0.0))
    if dtype in HALF:
        scale = max(scale, reach)
    allowed = TOLERANCES.get(dtype, 0.0) * scale
    if moves is not None:
        # A move that is not finite excuses nothing.
        allowed = allowed + np.nan_to_num(moves[finite], nan=0.0, posinf=0.0)
    return bool(np.all(np.abs(given - expected) <= allowed))
