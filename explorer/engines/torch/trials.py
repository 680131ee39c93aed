"""Operators of PyTorch's graphs computed again, alone, with other arguments than they had."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

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
from explorer.model.arrays import unpack
from explorer.model.causes import (
    LEFT_OUT,
    InputChange,
    InputHow,
    RecordedTrialsRequest,
    Trial,
    TrialsRequest,
    Tried,
)
from explorer.model.graph import Arguments, Output
from explorer.numeric.summaries import MOST, MOST_TRIED, keeping
from explorer.workers.garbage_collection import paused
from explorer.workers.memory_limit import limited_memory

Graph = JointGradGraph | TapeGradGraph | RecordedCalls

ValueOf = Callable[[str, int], torch.Tensor]
"""The value of a node by its id and the place of the output; KeyError where there is none."""


def _outputs(call: Call, trial: Trial, value_of: ValueOf) -> list[torch.Tensor]:
    """What an operator yields in a trial, and then what it has written to; raises what it raises."""
    operator, args, kwargs = call
    names = _names(operator)
    # An operator may write to what it is given.
    given = replaced({**dict(zip(names, args, strict=False)), **kwargs}, _copied)
    for change in trial.inputs:
        given = _with_inputs(given, change, value_of)
    for name, value in trial.arguments.items():
        given[name] = as_given(name, value)
    if _is_unsafe(operator, given):
        raise ValueError("a normalization with tensors that do not fit")
    if trial.op == LEFT_OUT:
        return [tensors_in(list(given.values()))[trial.hands_on]]
    if trial.op:
        operator = operator_of(trial.op)
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


def _with_inputs(given: dict[str, Any], change: InputChange, value_of: ValueOf) -> dict[str, Any]:
    """Arguments with some of their tensors changed; raises what the change raises."""
    tensors = tensors_in(list(given.values()))
    wanted = dict(enumerate(tensors))
    if change.how == "swapped":
        one, other = change.slots
        wanted[one], wanted[other] = tensors[other], tensors[one]
    elif change.how in ("replaced", "ahead"):
        wanted[change.slots[0]] = value_of(change.node, change.output)
    else:
        for slot in change.slots:
            wanted[slot] = INPUTS[change.how](tensors[slot], change)
    remaining = iter(wanted.values())

    def fill(value: Any) -> Any:
        return next(remaining) if isinstance(value, torch.Tensor) else value

    changed: dict[str, Any] = replaced(given, fill)
    return changed


INPUTS: dict[InputHow, Callable[[Any, InputChange], Any]] = {
    "transposed": lambda value, change: value.transpose(*map(int, change.numbers)),
    "scaled": lambda value, change: value * change.numbers[0],
    "rounded": lambda value, change: value.to(getattr(torch, change.dtype)).to(value.dtype),
    "rolled": lambda value, change: value.roll(int(change.numbers[1]), int(change.numbers[0])),
    "reversed": lambda value, change: value.flip(tuple(map(int, change.numbers))),
    "zeroed": lambda value, _: torch.zeros_like(value),
    "from_zeros": lambda value, _: torch.zeros_like(value),
    "given": lambda value, change: _given(value, change),
    "padded": lambda value, change: _padded(value, change, 0.0),
    "padded_below": lambda value, change: _padded(value, change, -math.inf),
}
"""What is done to one input."""


def _given(value: torch.Tensor, change: InputChange) -> torch.Tensor:
    """A value of the other side in the shape and dtype of an input; raises where it has another size."""
    if change.value is None:
        raise ValueError("no value is given")
    array = unpack(change.value).reshape(tuple(value.shape))
    return torch.from_numpy(array.copy()).to(value)


def _padded(value: torch.Tensor, change: InputChange, filling: float) -> torch.Tensor:
    """A tensor with elements added at the ends of its last axes, which PyTorch wants from the last one."""
    pairs = list(zip(change.numbers[::2], change.numbers[1::2], strict=True))
    ends = [int(number) for pair in reversed(pairs) for number in pair]
    return torch.nn.functional.pad(value, ends, value=filling)


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
    call = graph.call_of(trial.node)
    if call is None or draws_random_numbers(call[0]):
        return ()
    try:
        tensors = _computed(call, trial, graph)
    except Exception:
        return ()  # what an operator refuses explains nothing
    outputs = NodeOutputs(tensors, values=True)
    return tuple(map(outputs.of, tensors))


def _computed(call: Call, trial: Trial, graph: Graph) -> list[torch.Tensor]:
    """The outputs of the last op of a trial; raises what an operator raises."""
    if trial.is_state:
        return _written_in_turn(trial, graph)
    tensors = _outputs(call, trial, graph.value_of)
    return _carried_on(trial, tensors, graph) if trial.then else tensors


def _written_in_turn(trial: Trial, graph: Graph) -> list[torch.Tensor]:
    """What the last of several ops yields, each of which writes to what the one before has written."""
    nodes = (trial.node, *trial.then)
    is_first_left_out = trial.op == LEFT_OUT
    if isinstance(graph, JointGradGraph):
        return []  # such a graph has no memory that is written to
    state: dict[str, Any] = {}
    made: list[torch.Tensor] = []
    for node in nodes:
        # What a later one read of the state was overwritten, and is replaced here.
        call = graph.call_of(node, may_be_stale=node != trial.node)
        if call is None:
            return []
        operator, args, kwargs = _with_arguments(call, trial.then_arguments)
        names = _names(operator)
        given = replaced({**dict(zip(names, args, strict=False)), **kwargs}, _copied)
        given.update(state)
        positions, written = written_arguments(operator)
        places = [*(names[position] for position in positions), *written]
        if not (node == trial.node and is_first_left_out):
            with torch.no_grad():
                made = tensors_in(operator(**given))
        state = {name: given[name] for name in places if name in given}
    return [*made, *tensors_in(list(state.values()))]


def _with_arguments(call: Call, arguments: Arguments) -> Call:
    """A call with those of some arguments that its operator has."""
    operator, args, kwargs = call
    given = {**dict(zip(_names(operator), args, strict=False)), **kwargs}
    changed = {name: as_given(name, arguments[name]) for name in given if name in arguments}
    return (operator, (), {**given, **changed}) if changed else call


def _names(operator: Any) -> list[str]:
    return [argument.name for argument in operator._schema.arguments]


def _carried_on(trial: Trial, made: list[torch.Tensor], graph: Graph) -> list[torch.Tensor]:
    """The outputs of the last op behind the one that was tried, with all that changes on the way."""
    changed = [(graph.value_of(trial.node, 0), made[0])]
    for change in trial.inputs:
        if change.how == "ahead":
            changed = [(graph.value_of(change.node, change.output), made[0])]
    for node in trial.then:
        call = graph.call_of(node)
        if call is None or draws_random_numbers(call[0]):
            return []
        operator, args, kwargs = _with_arguments(call, trial.then_arguments)

        def fill(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                # Of equal values the last one: its memory is laid out as the operator needs it.
                for old, new in reversed(changed):
                    if value is old or (value.shape == old.shape and torch.equal(value, old)):
                        return copy_of(new)
                return copy_of(value)
            return value

        with torch.no_grad():
            made = tensors_in(operator(*replaced(args, fill), **replaced(kwargs, fill)))
        changed.append((graph.value_of(node, 0), made[0]))
    return made
