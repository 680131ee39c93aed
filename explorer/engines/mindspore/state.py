"""Parameters that a forward changes although they are not trained: running statistics above all."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from explorer.engines.capture.builder import GraphBuilder, Slot
from explorer.engines.mindspore.net import Net, array_of, dtype_of
from explorer.engines.mindspore.operators import may_write
from explorer.model.arrays import AnyArray, Summary, pack
from explorer.model.graph import Output, Phase
from explorer.model.state import StateChange
from explorer.numeric.summaries import summarise_all
from explorer.scenario.layouts import to_torch


def snapshot(net: Net) -> dict[str, AnyArray]:
    """The floating parameters that are not trained, as they are now."""
    state = {}
    for name, parameter in net.parameters.items():
        if name not in net.trainable:
            array = array_of(parameter)
            if array.dtype.kind == "f":
                # An array may share memory with its parameter.
                state[name] = array.copy()
    return state


def moved(net: Net, before: dict[str, AnyArray]) -> dict[str, AnyArray]:
    """The parameters of a snapshot that hold other values by now, with these values."""
    state = {}
    for name, value in before.items():
        now = array_of(net.parameters[name]).copy()
        if not _equal(now, value):
            state[name] = now
    return state


def start_of_state(net: Net) -> dict[str, AnyArray]:
    """Copies of everything that a net holds and does not train, counters too."""
    state = {}
    for name, held in net.held.items():
        if name not in net.trainable:
            state[name] = array_of(held.tensor).copy()
    return state


def changed_state(net: Net, before: dict[str, AnyArray]) -> tuple[StateChange, ...]:
    """The tensors of ``before`` that hold other values by now, laid out as in PyTorch."""
    changes = []
    for name, value in before.items():
        held = net.held[name]
        now = array_of(held.now()).copy()
        if not _equal(now, value):
            dtype = dtype_of(held.now())
            pair = [pack(to_torch(array, held.layout), dtype) for array in (value, now)]
            changes.append(StateChange(name, *pair))
    return tuple(changes)


def _equal(one: AnyArray, other: AnyArray) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


def add_state(
    builder: GraphBuilder,
    dtypes: Sequence[str],
    state: dict[str, AnyArray],
    values: bool,
    assigned: Mapping[str, Slot] = MappingProxyType({}),
) -> dict[Slot, Slot]:
    """Add a node for each changed parameter, fed by the operator that wrote it.

    ``state`` has the parameters as the call left them, of ``dtypes``; the nodes show them where
    ``values`` are requested. ``assigned`` are the slots of what some were assigned. Returns the slots of what
    operators wrote, each with that of the parameter before.
    """
    overwritten: dict[Slot, Slot] = {}
    leaves = builder.leaves()
    readers = _readers(builder)
    summaries: Sequence[Summary | None] = [None] * len(state)
    if values:
        summaries = summarise_all(list(state.values()), dtypes)
    for (name, array), dtype, summary in zip(state.items(), dtypes, summaries, strict=True):
        output = Output(tuple(array.shape), dtype, summary)
        inputs: tuple[Slot, ...] = ()
        phase: Phase = "forward"
        if name in assigned:
            inputs = (assigned[name],)
            phase = builder.nodes[assigned[name][0]].phase
        elif name in leaves:
            written = _written(builder, leaves[name], readers, output)
            inputs = (written,)
            # Backward writes once more where it computes a block again.
            phase = builder.nodes[written[0]].phase
            if written[0] != leaves[name]:
                overwritten[written] = leaves[name], 0
        builder.add("output", "output", phase, inputs, name=name, outputs=(output,))
    return overwritten


def _readers(builder: GraphBuilder) -> dict[int, list[int]]:
    """The nodes that read something of each node."""
    readers: dict[int, list[int]] = {}
    for slot, target, _ in builder.edges():
        if builder.is_kept(target):
            readers.setdefault(builder.resolve(slot)[0], []).append(target)
    return readers


def _written(
    builder: GraphBuilder, leaf: int, readers: dict[int, list[int]], output: Output
) -> Slot:
    """The slot of a changed parameter.

    It is a further output of the last operator that read it and may write; the leaf's own where no
    operator read it.
    """
    operators = readers.get(leaf, [])
    if not operators:
        return leaf, 0
    forward = [number for number in operators if builder.nodes[number].phase == "forward"]
    # Backward writes where it computes such an operator again; its gradient reads the parameter too.
    names = set()
    for number in forward:
        if may_write(builder.nodes[number].op):
            names.add(builder.nodes[number].op)
    again = [number for number in operators if builder.nodes[number].op in names]
    # Where no reader is known to write, the last one of the forward counts.
    writer = max(again or forward or operators)
    node = builder.nodes[writer]
    node.outputs = (*node.outputs, output)
    return writer, len(node.outputs) - 1
