"""Operators of PyTorch's graphs computed again, alone, with other arguments than they had."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from explorer.engines.edited_inputs import Tensors, ValueOf, edited_inputs
from explorer.engines.nested import replaced
from explorer.engines.torch.graph import recorded_graph
from explorer.engines.torch.graph_capture import JointGradGraph
from explorer.engines.torch.operator_arguments import as_given, operator_of
from explorer.engines.torch.operators import (
    copy_of,
    draws_random_numbers,
    tensors_in,
    written_arguments,
)
from explorer.engines.torch.recorded_calls import RecordedCalls
from explorer.engines.torch.tape import ready, solve_recorded
from explorer.engines.torch.tape_capture import TapeGradGraph
from explorer.engines.torch.tape_records import Call, NodeOutputs
from explorer.model.causes import (
    Edits,
    Inserted,
    InsertOperator,
    RecordedTrialsRequest,
    RemoveOperator,
    ReplaceOperator,
    SetArguments,
    Trial,
    TrialsRequest,
    Tried,
)
from explorer.model.graph import Output
from explorer.numeric.summaries import MOST, MOST_TRIED, keeping
from explorer.workers.garbage_collection import paused
from explorer.workers.memory_limit import limited_memory

Graph = JointGradGraph | TapeGradGraph | RecordedCalls


def _outputs(call: Call, edits: Edits, value_of: ValueOf) -> list[torch.Tensor]:
    """What an operator yields with edits, and then what it has written to; raises what it raises."""
    operator, args, kwargs = call
    names = _names(operator)
    # An operator may write to what it is given.
    given = replaced({**dict(zip(names, args, strict=False)), **kwargs}, _copied)
    given = _with_inputs(given, edits, value_of)
    for edit in edits:
        if isinstance(edit, SetArguments):
            for name, value in edit.arguments.items():
                given[name] = as_given(name, value)
    if _is_unsafe(operator, given):
        raise ValueError("a normalization with tensors that do not fit")
    for edit in edits:
        if isinstance(edit, RemoveOperator):
            return [tensors_in(list(given.values()))[edit.hands_on]]
        if isinstance(edit, ReplaceOperator):
            operator = operator_of(edit.op)
            given.update({name: as_given(name, value) for name, value in edit.arguments.items()})
            names = _names(operator)
            given = {name: given[name] for name in names if name in given}
    with torch.no_grad():
        made = tensors_in(operator(**given))
    positions, written = written_arguments(operator)
    places = [*(names[position] for position in positions), *written]
    return [*made, *tensors_in([given[name] for name in places if name in given])]


PER_CHANNEL = ("weight", "bias", "running_mean", "running_var", "save_mean", "save_invstd")
"""What a batch norm has for each channel."""

PER_GROUP = ("mean", "rstd")
"""What backward of a layer or group norm has for each group of elements that is normalized together."""


def _is_unsafe(operator: Any, given: Mapping[str, Any]) -> bool:
    """Whether a normalization would read or write beyond a tensor, or read one that it lacks.

    PyTorch 2.13 does not look at the shapes then, and spoils the process or ends it.
    """
    name = str(operator)
    if "batch_norm" in name:
        lengths = dict.fromkeys(PER_CHANNEL, given["input"].shape[1])
    elif "layer_norm_backward" in name:
        groups = given["input"].numel() // math.prod(given["normalized_shape"])
        lengths = dict.fromkeys(PER_GROUP, groups)
    elif "native_group_norm" in name:
        if given["input"].numel() != given["N"] * given["C"] * given["HxW"]:
            return True
        lengths = dict.fromkeys(PER_CHANNEL, given["C"])
        lengths.update(dict.fromkeys(PER_GROUP, given["N"] * given["group"]))
    else:
        return False
    if _lacks_statistics(given):
        return True
    cotangent = given.get("grad_out", given["input"])
    fits = all(
        given[name].numel() == length
        for name, length in lengths.items()
        if given.get(name) is not None
    )
    return not fits or cotangent.shape != given["input"].shape


def _lacks_statistics(given: Mapping[str, Any]) -> bool:
    """Whether a batch norm is to use statistics that it does not have."""
    is_evaluation = given.get("training", given.get("train")) is False
    return is_evaluation and given.get("running_mean") is None


def _with_inputs(given: dict[str, Any], edits: Edits, value_of: ValueOf) -> dict[str, Any]:
    """Arguments with some of their tensors changed; raises what the change raises."""
    tensors = tensors_in(list(given.values()))
    remaining = iter(edited_inputs(tensors, edits, value_of, TENSORS))

    def fill(value: Any) -> Any:
        return next(remaining) if isinstance(value, torch.Tensor) else value

    changed: dict[str, Any] = replaced(given, fill)
    return changed


INSERTED: dict[Inserted, Callable[[torch.Tensor, InsertOperator], torch.Tensor]] = {
    "swap_axes": lambda value, edit: value.transpose(*edit.numbers),
    "mul": lambda value, edit: value * edit.number,
    "cast": lambda value, edit: value.to(getattr(torch, edit.name)).to(value.dtype),
    "not": lambda value, _: value.logical_not(),
    "roll": lambda value, edit: value.roll(edit.numbers[1], edit.numbers[0]),
    "flip": lambda value, edit: value.flip(edit.numbers),
    "reshape": lambda value, edit: value.reshape(edit.shape),
    "pad": lambda value, edit: _padded(value, edit),
}
"""What is inserted at an input."""

TENSORS = Tensors(
    INSERTED, torch.zeros_like, lambda value, array: torch.from_numpy(array.copy()).to(value)
)


def _padded(value: torch.Tensor, edit: InsertOperator) -> torch.Tensor:
    """A tensor with elements added at the ends of its last axes, which PyTorch wants from the last one."""
    pairs = list(zip(edit.numbers[::2], edit.numbers[1::2], strict=True))
    ends = [number for pair in reversed(pairs) for number in pair]
    return torch.nn.functional.pad(value, ends, value=edit.number)


def _copied(value: Any) -> Any:
    return copy_of(value) if isinstance(value, torch.Tensor) else value


@paused()
def try_out(request: TrialsRequest) -> Tried:
    """The outputs of ops of a graph, each computed again as a trial says."""
    case = request.request
    if case.net.engine == "torch-graph":
        graph: Graph = recorded_graph(case)
    else:
        _, recording = solve_recorded(ready(case), case.case)
        graph = TapeGradGraph(recording, values=False)
    return Tried(tried(request.trials, graph))


@paused()
def try_out_recorded(request: RecordedTrialsRequest) -> Tried:
    """The outputs of ops of a step that was recorded elsewhere, each computed again as a trial says."""
    with limited_memory():
        return Tried(tried(request.trials, RecordedCalls(request.graph, request.leaves)))


@keeping(MOST, MOST_TRIED)
def tried(trials: Iterable[Trial], graph: Graph) -> tuple[tuple[Output, ...], ...]:
    """The outputs of each trial on what was called in a graph."""
    return tuple(_tried(trial, graph) for trial in trials)


def _tried(trial: Trial, graph: Graph) -> tuple[Output, ...]:
    try:
        tensors = (_written_in_turn if trial.is_state else _in_turn)(trial, graph)
    except Exception:
        return ()  # what an operator refuses explains nothing
    outputs = NodeOutputs(tensors, values=True)
    return tuple(map(outputs.of, tensors))


def _in_turn(trial: Trial, graph: Graph) -> list[torch.Tensor]:
    """The outputs of the last op of a row, with what changes on the way; raises what an operator raises."""
    made: dict[str, list[torch.Tensor]] = {}
    changed: list[tuple[torch.Tensor, torch.Tensor]] = []

    def fill(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            # Of equal values the last one: its memory is laid out as the operator needs it.
            for old, new in reversed(changed):
                if value is old or (value.shape == old.shape and torch.equal(value, old)):
                    return copy_of(new)
        return value

    def value_of(node: str, output: int) -> torch.Tensor:
        return made[node][output] if node in made else graph.value_of(node, output)

    for node in trial.row:
        call = graph.call_of(node)
        if call is None or draws_random_numbers(call[0]):
            return []
        operator, args, kwargs = call
        if made:
            call = operator, replaced(args, fill), replaced(kwargs, fill)
        made[node] = _outputs(call, trial.at(node), value_of)
        if node != trial.row[-1]:
            changed.append((graph.value_of(node, 0), made[node][0]))
    return made[trial.row[-1]]


def _written_in_turn(trial: Trial, graph: Graph) -> list[torch.Tensor]:
    """What the last of several ops yields, each of which writes to what the one before has written."""
    if isinstance(graph, JointGradGraph):
        return []  # such a graph has no memory that is written to
    state: dict[str, Any] = {}
    made: list[torch.Tensor] = []
    for node in trial.row:
        # What a later one read of the state was overwritten, and is replaced here.
        call = graph.call_of(node, may_be_stale=node != trial.row[0])
        if call is None:
            return []
        operator, args, kwargs = call
        names = _names(operator)
        given = replaced({**dict(zip(names, args, strict=False)), **kwargs}, _copied)
        given.update(state)
        is_removed = False
        for edit in trial.at(node):
            if isinstance(edit, SetArguments):
                given.update({it: as_given(it, value) for it, value in edit.arguments.items()})
            is_removed = is_removed or isinstance(edit, RemoveOperator)
        positions, written = written_arguments(operator)
        places = [*(names[position] for position in positions), *written]
        if not is_removed:
            with torch.no_grad():
                made = tensors_in(operator(**given))
        state = {name: given[name] for name in places if name in given}
    return [*made, *tensors_in(list(state.values()))]


def _names(operator: Any) -> list[str]:
    return [argument.name for argument in operator._schema.arguments]
