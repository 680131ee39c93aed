"""Captures in which one recorded value is wrong, for workers to carry out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import msgspec

from explorer.engines.capture import proof
from explorer.engines.capture.builder import GraphBuilder
from explorer.engines.capture.proof import GraphValues, Operand, Rerun
from explorer.model.engines import ENGINES
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured

FACTOR = 1.01


class Planting(msgspec.Struct, frozen=True):
    """A capture, and the op node (counted from 0 among op nodes) whose value is to be wrong."""

    request: CaseRequest
    place: int


def capture(planting: Planting) -> Captured:
    """The capture, proven with one recorded value times FACTOR; the answer is as it was."""
    engine = ENGINES[planting.request.net.engine]
    module: Any = import_module(engine.module)
    with _planted(planting.place):
        captured: Captured = module.capture(planting.request)
    return captured


@contextmanager
def _planted(place: int) -> Iterator[None]:
    original: Callable[..., None] = proof._Prover.__init__

    def spoil_first(self: Any, builder: GraphBuilder, recorded: GraphValues) -> None:
        kept = list(builder.kept())
        numbers = [number for number in kept if builder.nodes[number].kind in proof.PROVABLE]
        _spoil(numbers[place % len(numbers)], recorded)
        original(self, builder, recorded)

    proof._Prover.__init__ = spoil_first  # type: ignore[method-assign]
    try:
        yield
    finally:
        proof._Prover.__init__ = original  # type: ignore[method-assign]


def _spoil(number: int, recorded: GraphValues) -> None:
    """Let a node show something else than it yields, to its readers too."""
    slot = number, 0
    recorded.outputs[slot] = recorded.outputs[slot] * FACTOR
    for reader, rerun in recorded.reruns.items():
        if not isinstance(rerun, Rerun):
            continue
        operands = []
        for operand in rerun.operands:
            wrong = operand.slot == slot and operand.value is not None
            operands.append(Operand(slot, operand.value * FACTOR) if wrong else operand)
        again = Rerun(tuple(operands), rerun.compute, rerun.writes, rerun.excuse)
        recorded.reruns[reader] = again
