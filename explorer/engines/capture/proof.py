"""Proofs of recorded values: each op is computed again, alone, from its recorded inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    copies one into memory of its own. ``stated`` leaves of an error's text what a reader of the net
    understands. Where values ``may_be_swapped``, their order alone decided which of several
    like nodes they belong to. ``in_part`` has the slots that show a whole tensor of which an op wrote a
    part: computed alone, the op does not yield them.
    """

    array_of: Callable[[Any], AnyArray]
    copy_of: Callable[[Any], Any]
    reruns: dict[int, Rerun | Absence] = field(default_factory=dict)
    outputs: dict[Slot, Any] = field(default_factory=dict)
    overwritten: dict[Slot, Slot] = field(default_factory=dict)
    in_part: set[Slot] = field(default_factory=set)
    may_be_swapped: bool = False
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


class _Prover:
    """Proves one node after the other, in the order in which they ran."""

    def __init__(self, builder: GraphBuilder, recorded: GraphValues) -> None:
        self._builder = builder
        self._recorded = recorded
        # What refuted nodes should have shown: ops that read the true value are not refuted for it.
        self._corrected: dict[Slot, Any] = {}

    def proof(self, number: int) -> tuple[Proof, Absence | None]:
        """The proof of a node, and the reason where it is unproven."""
        observed = self._observed(number)
        if not observed:
            outputs = self._builder.nodes[number].outputs
            return "unproven", Absence("no_value" if outputs else "no_tensor")
        rerun = self._recorded.reruns.get(number, Absence("no_operator"))
        if isinstance(rerun, Absence):
            return "unproven", rerun
        values = [operand.value for operand in rerun.operands]
        if any(value is None for value in values):
            return "unproven", Absence("no_input")
        return self._compared(number, rerun, values, observed)

    def settle(self, numbers: Sequence[int]) -> None:
        """Give refuted nodes that are alike the values that they yield, where another of them shows it."""
        alike: dict[Any, list[int]] = {}
        for number in numbers:
            node = self._builder.nodes[number]
            if node.proof == "refuted":
                alike.setdefault((node.op, *map(_form, node.outputs)), []).append(number)
        for group in alike.values():
            owners = {number: self._showing(number, group) for number in group}
            if len(set(owners.values())) == len(group) and None not in owners.values():
                self._swap(owners)

    def _showing(self, number: int, group: Sequence[int]) -> int | None:
        """The one of several nodes whose recorded values are what a node yields; None without one."""
        yielded = {}
        for (node, output), value in self._corrected.items():
            if node == number:
                yielded[output] = value
        fitting = [other for other in group if self._shows(other, yielded)]
        if len(fitting) != 1:
            return None
        return fitting[0]

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

    def _swap(self, owners: dict[int, int | None]) -> None:
        """Give each node the outputs of the one that shows its values."""
        shown = {number: self._builder.nodes[number].outputs for number in owners}
        for number, owner in owners.items():
            if owner is not None:
                self._builder.nodes[number].outputs = shown[owner]
                _note(self._builder.nodes[number], "proven")

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
        except UnprovenError as error:
            return "unproven", error.absence
        except Exception as error:
            # What an op raises when it is run alone is a reason, and not a fault of the capture.
            return "unproven", Absence("raises_alone", error=self._failure(error))
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
        for slot, value in rerun.operands:
            if slot in self._corrected:
                value = self._corrected[slot]
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

    def _agree(self, observed: dict[Slot, Any], computed: dict[Slot, Any], reach: float) -> bool:
        array_of = self._recorded.array_of
        for slot, value in observed.items():
            if slot not in computed:
                return False
            dtype = self._builder.nodes[slot[0]].outputs[slot[1]].dtype
            if not agrees(array_of(value), array_of(computed[slot]), dtype, reach):
                return False
        return True

    def _failure(self, error: Exception) -> Failure:
        """The record of what an op raises alone, with the first line of its message."""
        message, kind, details, _ = self._recorded.stated(str(error))
        first = message.strip().partition("\n")[0].strip()
        return Failure(type(error).__name__, first, kind=kind, details=details)


def _form(output: Output) -> tuple[tuple[int, ...], str]:
    return output.shape, output.dtype


def agrees(recorded: AnyArray, computed: AnyArray, dtype: str, reach: float = 0.0) -> bool:
    """Whether an op computed again yields what was recorded, up to its own rounding.

    ``dtype`` is that of the tensor, which the arrays may carry in a wider one. In half precision the
    rounding is that of operands which may be as large as ``reach``.
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
    return bool(np.abs(given - expected).max(initial=0.0) <= TOLERANCES.get(dtype, 0.0) * scale)
