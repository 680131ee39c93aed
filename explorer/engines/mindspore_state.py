"""Parameters that a forward changes without being trained, running statistics above all: which they are, and who wrote them."""

import re

import numpy as np

from explorer.arrays import AnyArray, summarise
from explorer.engines.mindspore_capture_draft import Draft, Slot
from explorer.engines.mindspore_net import Net, array_of, dtype_of
from explorer.graph import Output

WRITERS = re.compile(r"BatchNorm|Assign|Inplace|Scatter|_?[Cc]opy_?$")
"""Operators that change a parameter that they are given."""


def snapshot(net: Net) -> dict[str, AnyArray]:
    """The floating parameters that nobody trains as they are now; copied, since an array may share memory with its parameter."""
    kept = {name: array_of(parameter) for name, parameter in net.parameters.items() if name not in net.trainable}
    return {name: array.copy() for name, array in kept.items() if array.dtype.kind == "f"}


def moved(net: Net, before: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """Those parameters of a snapshot that hold other values by now."""
    now = {name: array_of(net.parameters[name]).copy() for name in before}
    return {name: array for name, array in now.items() if not np.array_equal(array, before[name], equal_nan=True)}


def writer(draft: Draft, leaf: int, output: Output) -> Slot:
    """The slot of a changed parameter: a further output of the last operator that took it and may write, else the leaf."""
    takers = [target for origin, _, target, _ in draft.edges if origin == leaf and draft.nodes[target].phase == "forward"]
    writers = [number for number in takers if WRITERS.search(draft.nodes[number].op)] or takers
    if not writers:
        return leaf, 0
    number = max(writers)
    made = draft.nodes[number].outputs
    draft.change(number, outputs=(*made, output))
    return number, len(made)


def results(draft: Draft, net: Net, state: dict[str, AnyArray], values: bool) -> None:
    """A node for each changed parameter with its value after the forward, fed by the operator that wrote it."""
    leaves = draft.leaves()
    for name, array in state.items():
        dtype = dtype_of(net.parameters[name])
        output = Output(tuple(array.shape), dtype, summarise(array, dtype) if values else None)
        slot = writer(draft, leaves[name], output) if name in leaves else None
        draft.add("output", "output", "forward", (slot,), name=name, outputs=(output,))
