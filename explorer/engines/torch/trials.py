"""Operators of PyTorch's graphs computed again, alone, with other arguments than they had."""

from typing import Any

import torch

from explorer.engines.nested import replaced
from explorer.engines.torch.graph import recorded_graph
from explorer.engines.torch.operator_arguments import REDUCTIONS
from explorer.engines.torch.operators import (
    copy_of,
    draws_random_numbers,
    tensors_in,
    written_arguments,
)
from explorer.engines.torch.tape import ready, solve_recorded
from explorer.engines.torch.tape_capture import TapeGradGraph
from explorer.engines.torch.tape_records import Call, NodeOutputs
from explorer.model.causes import Trial, TrialsRequest, Tried
from explorer.model.graph import Arguments, Output
from explorer.workers.garbage_collection import paused

NUMBERS = {name: number for number, name in REDUCTIONS.items()}
"""The numbers by which operators take reductions."""


def _outputs(call: Call, changed: Arguments) -> list[torch.Tensor]:
    """What an operator yields with some arguments changed, and then what it has written to.

    Raises what it raises.
    """
    operator, *given = call
    # An operator may write to what it is given.
    args, kwargs = list(replaced(given[0], _copied)), replaced(dict(given[1]), _copied)
    places = {argument.name: place for place, argument in enumerate(operator._schema.arguments)}
    for name, value in changed.items():
        if places[name] < len(args):
            args[places[name]] = _as_given(name, value)
        else:
            kwargs[name] = _as_given(name, value)
    with torch.no_grad():
        made = tensors_in(operator(*args, **kwargs))
    positions, names = written_arguments(operator)
    written = [args[position] for position in positions if position < len(args)]
    written += [kwargs[name] for name in names if name in kwargs]
    return [*made, *tensors_in(written)]


def _copied(value: Any) -> Any:
    return copy_of(value) if isinstance(value, torch.Tensor) else value


def _as_given(name: str, value: Any) -> Any:
    """An argument of a record as an operator takes it."""
    if name == "reduction":
        return NUMBERS.get(value, value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str) and isinstance(getattr(torch, value, None), torch.dtype):
        return getattr(torch, value)
    return value


@paused()
def try_out(request: TrialsRequest) -> Tried:
    """The outputs of ops of a graph, each computed again as a trial says."""
    case = request.request
    if case.net.engine == "torch-graph":
        call_of = recorded_graph(case).call_of
    else:
        _, recording = solve_recorded(ready(case), case.case)
        call_of = TapeGradGraph(recording, values=False).call_of
    return Tried(tuple(_tried(trial, call_of(trial.node)) for trial in request.trials))


def _tried(trial: Trial, call: Call | None) -> tuple[Output, ...]:
    if call is None or draws_random_numbers(call[0]):
        return ()
    try:
        tensors = _outputs(call, trial.arguments)
    except Exception:
        return ()  # what an operator refuses explains nothing
    outputs = NodeOutputs(tensors, values=True)
    return tuple(map(outputs.of, tensors))
