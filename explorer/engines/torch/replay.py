"""A recorded run carried out once more from its leaves, in another order that its graph allows."""

from collections.abc import Iterator
from typing import Any

import torch

from explorer.engines.capture.order import latest_first
from explorer.engines.torch.net import SEED, Net
from explorer.engines.torch.operators import tensors_in
from explorer.engines.torch.tape_capture import Recording, TapeGradGraph
from explorer.engines.torch.tape_records import Origin


def replayed(recording: Recording, net: Net) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Outputs and gradients of a recording, computed once more from a fresh ``net``'s tensors.

    The latest operator that is ready runs first.
    """
    drawn = TapeGradGraph(recording, values=False)
    record_of_node = {node: number for number, node in drawn.nodes.items()}
    leaves = {**net.inputs, **net.state}
    filled = recording.bookkeeping.filled
    values: dict[Origin, torch.Tensor] = {}
    torch.manual_seed(SEED)
    for node in latest_first(drawn.record("")):
        if node not in record_of_node:
            continue  # a result, which computes nothing
        number = record_of_node[node]
        record = recording.records[number]
        if record.operator is None:
            # Constants are as they were recorded; a copy, since an operator may write to them.
            recorded = record.outputs[0].clone()
            values[number, 0] = leaves.get(record.name, recorded).detach()
            continue
        if number in filled:
            # The memory that this operator fills has no node of its own.
            _run(recording, filled[number], values)
        _run(recording, number, values)

    resolve = recording.bookkeeping.resolve
    outputs = [values[resolve(origin)] for origin in recording.outputs.values()]
    gradients = [values[resolve(origin)] for origin in recording.gradients.values()]
    return outputs, gradients


def _run(recording: Recording, number: int, values: dict[Origin, torch.Tensor]) -> None:
    """Run a record's operator on what its operands' origins yielded this time."""
    record = recording.records[number]
    operands = []
    for origin in record.origins:
        # Hidden aliases are not run once more: what they alias is read instead.
        if origin not in values:
            origin = recording.bookkeeping.resolve(origin)
        operands.append(values[origin])
    # Operands are in the order in which gather_tensors() met them: args first, then kwargs.
    remaining = iter(operands)
    args = _filled(record.args, remaining)
    kwargs = _filled(record.kwargs, remaining)
    result = record.operator(*args, **kwargs)
    for output, tensor in enumerate(tensors_in(result)):
        values[number, output] = tensor


def _filled(value: Any, operands: Iterator[torch.Tensor]) -> Any:
    """Nested arguments with their tensors replaced in order."""
    if isinstance(value, torch.Tensor):
        return next(operands)
    if isinstance(value, (tuple, list)):
        return type(value)(_filled(item, operands) for item in value)
    if isinstance(value, dict):
        return {key: _filled(item, operands) for key, item in value.items()}
    return value
