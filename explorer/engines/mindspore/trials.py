"""Operators of MindSpore's graphs computed again, alone, with other arguments than they had."""

import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any

import mindspore as ms
import numpy as np
from mindspore._c_expression import op_enum

from explorer.engines.edited_inputs import Tensors, ValueOf, edited_inputs
from explorer.engines.mindspore import graph, tape
from explorer.engines.mindspore.enumerations import ENUMERATIONS, readable
from explorer.engines.mindspore.net import array_of, dtype_of, own_copy, tensor_like, use_device
from explorer.engines.mindspore.operator_arguments import class_of, names_of
from explorer.engines.mindspore.operators import written_operands
from explorer.engines.mindspore.proof import RecordedCall
from explorer.engines.mindspore.recorded_calls import RecordedCalls
from explorer.engines.mindspore.tape_tensors import tensors_in
from explorer.engines.nested import replaced
from explorer.model.arrays import AnyArray
from explorer.model.causes import (
    Edits,
    FromNode,
    Inserted,
    InsertOperator,
    RecordedTrialsRequest,
    RemoveOperator,
    ReplaceOperator,
    Rewire,
    SetArguments,
    Trial,
    TrialsRequest,
    Tried,
)
from explorer.model.graph import Arguments, Output
from explorer.numeric.summaries import MOST, MOST_TRIED, keeping, summarise_all
from explorer.workers.garbage_collection import paused
from explorer.workers.memory_limit import limited_memory

CALLS = {"mindspore-graph": graph.recorded_calls, "mindspore-tape": tape.recorded_calls}
"""How the operators of an engine's graph are recorded."""

FUNCTIONS = "ops."
"""How the names of functions begin, which may stand in the place of an operator too."""

SAME_NAMES = {"dim": "axis", "keepdim": "keep_dims"}
"""Arguments that operators of one kind call otherwise."""


@paused()
@keeping(MOST, MOST_TRIED)
def try_out(request: TrialsRequest) -> Tried:
    """The outputs of ops of a graph, each computed again as a trial says."""
    case = request.request
    nodes: dict[str, None] = {}
    for trial in request.trials:
        rewired = [edit.source for edit in trial.edits if isinstance(edit, Rewire)]
        sources = [source.node for source in rewired if isinstance(source, FromNode)]
        nodes.update(dict.fromkeys((*trial.row, *sources)))
    calls = CALLS[case.net.engine](case, nodes)
    return Tried(tuple(_tried(trial, calls) for trial in request.trials))


@paused()
@keeping(MOST, MOST_TRIED)
def try_out_recorded(request: RecordedTrialsRequest) -> Tried:
    """The outputs of ops of a step that was recorded elsewhere, each computed again as a trial says."""
    use_device(request.device)  # once an op has run, the next request could choose none
    calls = RecordedCalls(request.graph, request.leaves)
    with limited_memory():
        return Tried(tuple(_tried(trial, calls) for trial in request.trials))


def _tried(trial: Trial, calls: Mapping[str, RecordedCall]) -> tuple[Output, ...]:
    if trial.is_state or not all(node in calls for node in trial.row):
        return ()
    try:
        tensors = _in_turn(trial, calls)
        arrays = list(map(array_of, tensors))  # to read is to wait for what may still raise
    except Exception:
        return ()  # what an operator refuses explains nothing
    dtypes = list(map(dtype_of, tensors))
    summaries = summarise_all(arrays, dtypes)
    return tuple(
        Output(tuple(array.shape), dtype, summary)
        for array, dtype, summary in zip(arrays, dtypes, summaries, strict=True)
    )


def _in_turn(trial: Trial, calls: Mapping[str, RecordedCall]) -> list[Any]:
    """The outputs of the last op of a row, with what changes on the way; raises what an operator raises."""
    made: dict[str, list[Any]] = {}
    changed: list[tuple[Any, Any]] = []

    def fill(value: Any) -> Any:
        if isinstance(value, ms.Tensor):
            for old, new in changed:
                if value.shape == old.shape and np.array_equal(array_of(value), array_of(old)):
                    return own_copy(new)
        return value

    def value_of(node: str, output: int) -> Any:
        return (made[node] if node in made else calls[node].run())[output]

    for node in trial.row:
        call = calls[node]
        if made:
            call = call._replace(values=replaced(call.values, fill))
        made[node] = outputs_of(call, trial.at(node), value_of)
        if node != trial.row[-1]:
            changed.append((calls[node].run()[0], made[node][0]))
    return made[trial.row[-1]]


def outputs_of(call: RecordedCall, edits: Edits, value_of: ValueOf) -> list[Any]:
    """What an operator yields with edits, and then what it has written to; raises what it raises."""
    written = written_operands(call.op)
    given = call
    if written is not None:
        given = call._replace(values=replaced(call.values, _copied))
    given = _with_inputs(given, edits, value_of)
    for edit in edits:
        if isinstance(edit, (SetArguments, ReplaceOperator)):
            given = _with_arguments(given, edit.arguments)
    for edit in edits:
        if isinstance(edit, RemoveOperator):
            return [own_copy(list(tensors_in(given.values))[edit.hands_on])]
        if isinstance(edit, ReplaceOperator):
            return list(tensors_in((_result(edit.op, given),)))
    made = given.run()
    return made if written is None else [*made, *list(tensors_in(given.values))[written]]


def _copied(value: Any) -> Any:
    return own_copy(value) if isinstance(value, ms.Tensor) else value


def _with_arguments(call: RecordedCall, arguments: Arguments) -> RecordedCall:
    """A call with other arguments; raises KeyError for a name that it does not have."""
    if not arguments:
        return call
    names = names_of(call.op)
    order = names.order if names else ()
    named = dict(zip(order, call.values, strict=False))
    attributes = dict(call.attributes)
    for name, value in arguments.items():
        if name in named:
            named[name] = _as_given(name, value, named[name])
        elif names and name in names.attributes:
            attributes[name] = value
        else:
            raise KeyError(name)
    values = (*named.values(), *call.values[len(named) :])
    return RecordedCall(call.op, values, attributes)


def _as_given(name: str, value: Any, own: Any) -> Any:
    """An argument of a record as an operator takes it: by number where it takes its own so."""
    if isinstance(value, str) and isinstance(own, int) and name in ENUMERATIONS:
        return op_enum.str_to_enum("", name, value)
    return value


def _with_inputs(call: RecordedCall, edits: Edits, value_of: ValueOf) -> RecordedCall:
    """A call with some of its tensors changed; raises what the change raises."""
    tensors = list(tensors_in(call.values))
    edited = edited_inputs(tensors, edits, value_of, TENSORS)
    if all(map(operator.is_, edited, tensors)):
        return call
    remaining = iter(edited)

    def fill(value: Any) -> Any:
        return next(remaining) if isinstance(value, ms.Tensor) else value

    return call._replace(values=replaced(call.values, fill))


def _moved(value: Any, array: AnyArray) -> Any:
    """A tensor of an input's dtype with its elements elsewhere: not every device has a kernel for it."""
    return tensor_like(array, value.dtype)


INSERTED: dict[Inserted, Callable[[Any, InsertOperator], Any]] = {
    "swap_axes": lambda value, edit: _moved(value, array_of(value).swapaxes(*edit.numbers)),
    "mul": lambda value, edit: value * edit.number,
    "cast": lambda value, edit: value.astype(getattr(ms, edit.name)).astype(value.dtype),
    "not": lambda value, _: _moved(value, np.logical_not(array_of(value))),
    "roll": lambda value, edit: _moved(value, np.roll(array_of(value), *edit.numbers[::-1])),
    "flip": lambda value, edit: _moved(value, np.flip(array_of(value), edit.numbers)),
    "reshape": lambda value, edit: _moved(value, array_of(value).reshape(edit.shape)),
}
"""What is inserted at an input."""

TENSORS = Tensors(INSERTED, lambda value: _moved(value, np.zeros_like(array_of(value))), _moved)


# Another operator


def _result(op: str, call: RecordedCall) -> Any:
    """What another operator, or a function such as "ops.gelu", yields for what a call was given."""
    tensors = list(tensors_in(call.values))
    settings = _settings(call)
    if op.startswith(FUNCTIONS):
        function = getattr(ms.ops, op.removeprefix(FUNCTIONS))
        # A function takes names where an operator takes their numbers.
        return function(*tensors, **_taken(function, dict(readable(settings))))
    kind = class_of(op)
    primitive = kind(**_taken(kind.__init__, settings))
    if "__call__" not in vars(kind):  # an older one, which takes tensors alone
        return primitive(*tensors)
    return primitive(*tensors, **_taken(kind.__call__, settings))


def _settings(call: RecordedCall) -> dict[str, Any]:
    """All that a call was given beside tensors, by names that operators of a kind share."""
    names = names_of(call.op)
    order = names.order if names else ()
    given = {**call.attributes, **dict(zip(order, call.values, strict=False))}
    settings = {}
    for name, value in given.items():
        if not any(True for _ in tensors_in((value,))):
            settings[SAME_NAMES.get(name, name)] = _single(value)
    return settings


def _single(value: Any) -> Any:
    """The axis of a sequence of one: some operators take no sequence."""
    return value[0] if isinstance(value, (tuple, list)) and len(value) == 1 else value


def _taken(function: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a function takes, by its own names."""
    names = list(inspect.signature(function).parameters)
    return {
        name: settings[SAME_NAMES.get(name, name)]
        for name in names
        if SAME_NAMES.get(name, name) in settings
    }
