"""A recorded run carried out once more from its leaves, in another order that its graph allows."""

import torch

from explorer.engines.capture.order import latest_first
from explorer.engines.torch.net import SEED, Net, start_random_numbers
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
    start_random_numbers(SEED)
    for node in latest_first(drawn.record("")):
        if node not in record_of_node:
            continue  # a result, which computes nothing
        number = record_of_node[node]
        record = recording.records[number]
        if record.operator is None:
            # Constants are as they were recorded; a copy, since an operator may write to them.
            recorded = record.outputs[0].clone()
            # An input may have the name of a constant: "seed".
            value = leaves.get(record.name, recorded) if record.is_leaf else recorded
            values[number, 0] = value.detach()
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
    for output, tensor in enumerate(record.run_again(operands)):
        values[number, output] = tensor
