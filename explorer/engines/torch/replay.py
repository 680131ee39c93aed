"""A recorded run carried out once more from its leaves, in another order that its graph allows."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Any

import torch

from explorer.engines.torch.net import SEED, Net
from explorer.engines.torch.tape_capture import Capture
from explorer.engines.torch.tape_recorder import Slot, tensors_in
from explorer.model.graph import GradGraph


def replayed(
    capture: Capture, graph: GradGraph, net: Net
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Outputs and gradients as a fresh ``net``'s tensors give them, running the latest operator
    that is ready first.
    """
    records = {identity: number for number, identity in capture.number.items()}
    leaves = {name: tensor.detach() for name, tensor in (*net.inputs.items(), *net.state.items())}
    made: dict[Slot, torch.Tensor] = {}
    torch.manual_seed(SEED)
    for identity in latest_first(graph):
        number = records.get(identity)
        if number is None:
            continue
        record = capture.records[number]
        if record.func is None:
            made[number, 0] = (
                leaves[record.name] if record.name in leaves else record.kept[0].detach().clone()
            )
            continue
        for step in [number] if number not in capture.fills else [capture.fills[number], number]:
            _run(capture, step, made)
    ends = (*capture.outputs.values(), *capture.gradients.values())
    found = [made[capture.resolve(slot)] for slot in ends]
    return found[: len(capture.outputs)], found[len(capture.outputs) :]


def _run(capture: Capture, number: int, made: dict[Slot, torch.Tensor]) -> None:
    record = capture.records[number]
    given = iter([made[slot if slot in made else capture.resolve(slot)] for slot in record.reads])
    result = record.func(*_filled(record.args, given), **_filled(record.kwargs, given))
    made.update({(number, slot): tensor for slot, tensor in enumerate(tensors_in(result))})


def _filled(value: Any, given: Iterator[Any]) -> Any:
    """Nested arguments with their tensors replaced in order."""
    if isinstance(value, torch.Tensor):
        return next(given)
    if isinstance(value, (tuple, list)):
        return type(value)(_filled(item, given) for item in value)
    return (
        {key: _filled(item, given) for key, item in value.items()}
        if isinstance(value, dict)
        else value
    )


def latest_first(graph: GradGraph) -> Iterator[str]:
    """The nodes of a graph so that each follows what its edges come from, and otherwise in the
    reverse of their own order.
    """
    waiting = dict.fromkeys((node.id for node in graph.nodes), 0)
    after: dict[str, list[str]] = {node: [] for node in waiting}
    for edge in graph.edges:
        waiting[edge.target] += 1
        after[edge.origin].append(edge.target)
    ready = [-int(node[1:]) for node, count in waiting.items() if not count]
    heapify(ready)
    while ready:
        node = f"n{-heappop(ready)}"
        yield node
        for target in after[node]:
            waiting[target] -= 1
            if not waiting[target]:
                heappush(ready, -int(target[1:]))
