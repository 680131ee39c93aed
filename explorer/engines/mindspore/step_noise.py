"""How far the values of a recorded step may move by rounding, without another run of the step.

The operators are called again one by one, on operands that are moved by their own noise: so noise
is handed on along the edges of the graph, as if what rounds two operands were independent. Kernels
that approximate a function are compared with their float64 ones.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import mindspore as ms
import msgspec
import numpy as np

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.capture.proof import GraphValues, Rerun
from explorer.engines.mindspore.net import array_of, tensor_like
from explorer.engines.mindspore.rounding import APPROXIMATED, FORMULAS, are_near, axis_of
from explorer.model.arrays import AnyArray
from explorer.numeric.differences import Floats
from explorer.numeric.summaries import UNIT

MOST_ELEMENTS = 1 << 16
"""Operators on more elements are not called again: their noise is that of what they read."""

MOST_NODES = 4000
"""In graphs with more nodes no operator is called again."""

GREATEST_SHARE = 2.0
"""By so much of itself an update may move: where a gradient is noise, its sign is."""


class StepNoise:
    """The levels of a graph's values, by slot: the root mean square by which elements move.

    ``arguments_of`` gives what the operator of a node was called with. ``updates`` has the slots of what
    optimizers wrote, each with the slot that was there before and that of the gradient.
    """

    def __init__(
        self,
        graph: GraphBuilder,
        recorded: GraphValues,
        arguments_of: Callable[[int], tuple[Any, ...]],
        updates: Mapping[Slot, tuple[Slot, Slot]] = MappingProxyType({}),
    ) -> None:
        self.levels: dict[Slot, float] = {}
        self._graph = graph
        self._recorded = recorded
        self._arguments_of = arguments_of
        self._updates = updates
        self._random = np.random.default_rng(0)
        self._reads: dict[int, dict[int, Slot]] = {}
        for slot, target, place in self._graph.edges():
            self._reads.setdefault(target, {})[place] = graph.resolve(slot)

    def measure(self) -> None:
        """Give every output of the graph its noise."""
        is_small = len(self._graph.nodes) <= MOST_NODES
        for number in self._graph.kept():
            outputs = self._graph.nodes[number].outputs
            levels = self._moved(number) if is_small else None
            for place in range(len(outputs)):
                slot = number, place
                if slot in self._updates:
                    level = self._of_update(slot, *self._updates[slot])
                elif levels is not None and place < len(levels):
                    level = levels[place]
                else:
                    level = self._handed_on(number, slot)
                self.levels[slot] = max(level, self._rounding(slot))
        for number in self._graph.kept():
            node = self._graph.nodes[number]
            node.outputs = tuple(
                msgspec.structs.replace(output, noise=self.levels[number, place])
                for place, output in enumerate(node.outputs)
            )

    def _value(self, slot: Slot) -> AnyArray | None:
        value = self._recorded.outputs.get(slot)
        return None if value is None else np.asarray(self._recorded.array_of(value))

    def _rounding(self, slot: Slot) -> float:
        """A rounding of the values of a slot."""
        number, place = slot
        output = self._graph.nodes[number].outputs[place]
        if output.values is None or output.dtype not in UNIT:
            return 0.0
        return float(UNIT[output.dtype]) * _size(output.shape, output.values.norm)

    def _handed_on(self, number: int, slot: Slot) -> float:
        """The level of a value that is as noisy, relative to its size, as the noisiest that is read."""
        output = self._graph.nodes[number].outputs[slot[1]]
        if output.values is None or output.dtype not in UNIT:
            return 0.0
        relative = [0.0]
        for read in self._reads.get(number, {}).values():
            origin = self._graph.nodes[read[0]].outputs[read[1] : read[1] + 1]
            for value in origin:
                size = _size(value.shape, value.values.norm) if value.values else 0.0
                if size:
                    relative.append(self.levels.get(read, 0.0) / size)
        return max(relative) * _size(output.shape, output.values.norm)

    def _of_update(self, slot: Slot, before: Slot, gradient: Slot) -> float:
        """The level of what an optimizer has updated: its change is as noisy as the gradient."""
        old, new, given = self._value(before), self._value(slot), self._value(gradient)
        if old is None or new is None or given is None or old.shape != given.shape:
            return self._handed_on(slot[0], slot)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.levels.get(gradient, 0.0) / np.abs(given.astype(np.float64))
        change = np.abs(new.astype(np.float64) - old)
        return _rms(change * np.clip(np.nan_to_num(share, nan=0.0), 0.0, GREATEST_SHARE))

    # Operators that are called again

    def _moved(self, number: int) -> list[float] | None:
        """How far the outputs of an operator move; None where it cannot be called again."""
        rerun = self._recorded.reruns.get(number)
        if not isinstance(rerun, Rerun) or rerun.excuse or rerun.writes:
            return None
        values = [operand.value for operand in rerun.operands]
        recorded = [
            self._value((number, place)) for place in range(len(self._graph.nodes[number].outputs))
        ]
        if (
            any(value is None for value in values)
            or _elements([*values, *recorded]) > MOST_ELEMENTS
        ):
            return None
        try:
            moved = rerun.compute(self._jittered(rerun))
            exact = self._exact(number, rerun)
            squares = []
            for place, plain in enumerate(recorded):
                move = _distance(plain, moved[place : place + 1])
                off = _distance(plain, exact[place : place + 1], must_be_near=True)
                squares.append(move**2 + off**2)
            return [float(np.sqrt(square)) for square in squares]
        except Exception:
            return None  # what cannot be called alone hands its noise on

    def _jittered(self, rerun: Rerun) -> list[Any]:
        """Operands that are moved by their noise; zeros, masks and numbers stay."""
        tensors = []
        for operand in rerun.operands:
            array = array_of(operand.value)
            level = self.levels.get(operand.slot, 0.0) if operand.slot else 0.0
            if array.dtype.kind == "f" and level:
                draws = self._random.standard_normal(array.shape) * (array != 0)
                array = (array + level * draws).astype(array.dtype)
            tensors.append(tensor_like(array, operand.value.dtype))
        return tensors

    def _exact(self, number: int, rerun: Rerun) -> Sequence[Any]:
        """What an operator yields whose kernel only approximates it; empty of any other."""
        op = self._graph.nodes[number].op
        values = [operand.value for operand in rerun.operands]
        if op not in APPROXIMATED or any(value.dtype != ms.float32 for value in values):
            return ()
        if op in FORMULAS:
            arrays = [array_of(value).astype(np.float64) for value in values]
            return FORMULAS[op](arrays, axis_of(self._arguments_of(number)))
        return rerun.compute([value.astype(ms.float64) for value in values])


def _distance(plain: AnyArray | None, others: Sequence[Any], must_be_near: bool = False) -> float:
    """How far values are apart, as a root mean square; 0 where there is nothing to compare."""
    if plain is None or not others or plain.dtype.kind != "f":
        return 0.0
    other = np.asarray(array_of(others[0])).astype(np.float64)
    if other.shape != plain.shape or (must_be_near and not are_near(plain, other)):
        return 0.0
    return _rms(plain.astype(np.float64) - other)


def _rms(difference: Floats) -> float:
    finite = difference[np.isfinite(difference)]
    return float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0


def _size(shape: Sequence[int], norm: float) -> float:
    count = int(np.prod(shape, dtype=int))
    return norm / count**0.5 if count else 0.0


def _elements(values: Sequence[Any]) -> int:
    return max((int(value.size) for value in values if value is not None), default=0)
