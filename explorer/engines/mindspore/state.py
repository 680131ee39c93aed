"""Parameters that a forward changes without being trained, running statistics above all: which they
are, and who wrote them.
"""

import re

import numpy as np

from explorer.engines.mindspore.draft import Draft, Slot
from explorer.engines.mindspore.net import Net, array_of, dtype_of
from explorer.model.arrays import AnyArray
from explorer.model.graph import Output
from explorer.numeric.summaries import summarise_all

WRITERS = re.compile(r"BatchNorm|Assign|Inplace|Scatter|_?[Cc]opy_?$")
"""Operators that change a parameter that they are given."""


def snapshot(net: Net) -> dict[str, AnyArray]:
    """The floating parameters that nobody trains as they are now; copied, since an array may share
    memory with its parameter.
    """
    kept = {
        name: array_of(parameter)
        for name, parameter in net.parameters.items()
        if name not in net.trainable
    }
    return {name: array.copy() for name, array in kept.items() if array.dtype.kind == "f"}


def moved(net: Net, before: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Those parameters of a snapshot that hold other values by now."""
    now = {name: array_of(net.parameters[name]).copy() for name in before}
    return {
        name: array
        for name, array in now.items()
        if not np.array_equal(array, before[name], equal_nan=True)
    }


def results(draft: Draft, net: Net, state: dict[str, AnyArray], values: bool) -> None:
    """A node for each changed parameter with its value after the forward, fed by the operator that
    wrote it.
    """
    leaves, takers = draft.leaves(), _takers(draft)
    names = [dtype_of(net.parameters[name]) for name in state]
    summaries = summarise_all(list(state.values()), names) if values else [None] * len(state)
    for (name, array), dtype, summary in zip(state.items(), names, summaries, strict=True):
        output = Output(tuple(array.shape), dtype, summary)
        slot = (
            _writer(draft, leaves[name], takers.get(leaves[name], []), output)
            if name in leaves
            else None
        )
        draft.add("output", "output", "forward", (slot,), name=name, outputs=(output,))


def _takers(draft: Draft) -> dict[int, list[int]]:
    """The forward nodes that take something of each node."""
    found: dict[int, list[int]] = {}
    for origin, _, target, _ in draft.edges:
        if draft.nodes[target].phase == "forward":
            found.setdefault(origin, []).append(target)
    return found


def _writer(draft: Draft, leaf: int, takers: list[int], output: Output) -> Slot:
    """The slot of a changed parameter: a further output of the last operator that took it and may
    write, else the leaf.
    """
    writers = [number for number in takers if WRITERS.search(draft.nodes[number].op)] or takers
    if not writers:
        return leaf, 0
    number = max(writers)
    made = draft.nodes[number].outputs
    draft.change(number, outputs=(*made, output))
    return number, len(made)
