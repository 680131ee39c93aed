"""Operators of PyTorch's graphs computed again, alone, with other arguments than they had."""

from collections.abc import Callable, Iterable
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
from explorer.model.causes import InputChange, InputHow, Trial, TrialsRequest, Tried
from explorer.model.graph import Output
from explorer.workers.garbage_collection import paused

NUMBERS = {name: number for number, name in REDUCTIONS.items()}
"""The numbers by which operators take reductions."""


def _outputs(call: Call, trial: Trial) -> list[torch.Tensor]:
    """What an operator yields in a trial, and then what it has written to; raises what it raises."""
    operator, args, kwargs = call
    names = [argument.name for argument in operator._schema.arguments]
    # An operator may write to what it is given.
    given = replaced({**dict(zip(names, args, strict=False)), **kwargs}, _copied)
    for change in trial.inputs:
        given.update(_changed(change, [given[name] for name in change.names]))
    for name, value in trial.arguments.items():
        given[name] = _as_given(name, value)
    if trial.op:
        operator = _operator(trial.op)
        names = [argument.name for argument in operator._schema.arguments]
        given = {name: given[name] for name in names if name in given}
    with torch.no_grad():
        made = tensors_in(operator(**given))
    positions, written = written_arguments(operator)
    places = [*(names[position] for position in positions), *written]
    return [*made, *tensors_in([given[name] for name in places if name in given])]


def _changed(change: InputChange, values: list[Any]) -> dict[str, Any]:
    """Inputs after a change, by the names of their arguments; raises what the change raises."""
    if change.how == "swapped":
        return dict(zip(change.names, reversed(values), strict=True))
    return {change.names[0]: INPUTS[change.how](values[0], change)}


INPUTS: dict[InputHow, Callable[[Any, InputChange], Any]] = {
    "transposed": lambda value, change: value.transpose(*map(int, change.numbers)),
    "scaled": lambda value, change: value * change.numbers[0],
    "rounded": lambda value, change: value.to(getattr(torch, change.dtype)).to(value.dtype),
    "rolled": lambda value, change: value.roll(int(change.numbers[1]), int(change.numbers[0])),
    "reversed": lambda value, change: value.flip(int(change.numbers[0])),
}
"""What is done to one input."""


def _operator(name: str) -> Any:
    """The operator of a name such as "aten.gelu.default"."""
    namespace, op, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), op), overload)


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
    return Tried(tried(request.trials, call_of))


def tried(
    trials: Iterable[Trial], call_of: Callable[[str], Call | None]
) -> tuple[tuple[Output, ...], ...]:
    """The outputs of each trial; ``call_of`` says what was called at a node."""
    return tuple(_tried(trial, call_of(trial.node)) for trial in trials)


def _tried(trial: Trial, call: Call | None) -> tuple[Output, ...]:
    if call is None or draws_random_numbers(call[0]):
        return ()
    try:
        tensors = _outputs(call, trial)
    except Exception:
        return ()  # what an operator refuses explains nothing
    outputs = NodeOutputs(tensors, values=True)
    return tuple(map(outputs.of, tensors))
