"""Operations of JAX's graphs computed again, alone, with other arguments and inputs than they had."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from explorer.engines.jax.graph_capture import RecordedGradGraph
from explorer.engines.jax.net import WIDE, built
from explorer.engines.jax.operator_arguments import STARTS, flat, literals, starts_of
from explorer.engines.jax.other_axes import AXES, BehindOtherAxes, axes_in, fitted
from explorer.engines.jax.recorded_calls import RecordedCalls
from explorer.engines.jax.recording import Record, Recording, run
from explorer.engines.jax.styles import STYLES
from explorer.engines.jax.tensors import array_of, dtype_of
from explorer.engines.jax.versions import enable_x64
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
from explorer.model.graph import ArgumentValue, Output
from explorer.numeric.summaries import MOST, MOST_TRIED, keeping, summarise
from explorer.workers.memory_limit import limited_memory


def try_out(request: TrialsRequest) -> Tried:
    """The outputs of operations of a graph, each computed again as a trial says."""
    case = request.request
    engine = STYLES[case.net.engine]
    with built(case.net) as net:
        _, recording = engine.recorded(case, net)
        drawn = RecordedGradGraph(recording, str(net.scenario.path), values=False)
        trials = Trials(recording, drawn.records_by_id())
        return Tried(trials.made(request.trials))


def try_out_recorded(request: RecordedTrialsRequest) -> Tried:
    """The outputs of operations that were recorded elsewhere, each computed again as a trial says."""
    is_wide = any(output.dtype in WIDE for node in request.graph.nodes for output in node.outputs)
    with enable_x64(is_wide), limited_memory():
        calls = RecordedCalls(request.graph, request.leaves)
        trials = Trials(calls, calls.numbers)
        return Tried(trials.made(request.trials))


class Trials:
    """Trials on a recording; ``numbers`` are the records of its graph's nodes, by their ids."""

    def __init__(self, recording: Recording, numbers: dict[str, int]) -> None:
        self._recording = recording
        self._numbers = numbers

    @keeping(MOST, MOST_TRIED)
    def made(self, trials: Iterable[Trial]) -> tuple[tuple[Output, ...], ...]:
        """The outputs of each of some trials."""
        return tuple(map(self.outputs, trials))

    def outputs(self, trial: Trial) -> tuple[Output, ...]:
        """The outputs of a trial; () of one that raises or cannot be made."""
        try:
            return tuple(map(_output, self._computed(trial)))
        except Exception:
            return ()  # what an operation refuses explains nothing

    def _computed(self, trial: Trial) -> list[Any]:
        if trial.is_state:
            return []  # nothing here writes to an array
        number = self._numbers[trial.node]
        made = self._tried(number, trial)
        if not trial.then:
            return made
        changed = {(number, 0): made[0]}
        for change in trial.inputs:
            if change.how == "ahead":
                changed = {(self._numbers[change.node], change.output): made[0]}
        behind = self._behind_other_axes(number, trial)
        for node in trial.then:
            following = self._numbers[node]
            values = [changed.get(it, value) for it, value in self._operands(following)]
            record = self._recording.records[following]
            made = behind.computed(following, record, values) if behind else record.computed(values)
            changed[following, 0] = made[0]
        return made

    def _behind_other_axes(self, number: int, trial: Trial) -> BehindOtherAxes | None:
        axes = axes_in(trial.arguments)
        if axes is None:
            return None
        ((_, read),) = self._operands(number)
        return BehindOtherAxes(number, self._recording.records[number], read.shape, axes)

    def _tried(self, number: int, trial: Trial) -> list[Any]:
        """What an operation yields with the inputs and arguments of a trial."""
        record = self._recording.records[number]
        values = [value for _, value in self._operands(number)]
        for change in trial.inputs:
            values = self._with_inputs(values, change)
        if trial.op == LEFT_OUT:
            return [values[trial.hands_on]]
        made = _with_arguments(record, values, trial)
        axes = axes_in(trial.arguments)
        if axes is not None and made[0].shape != record.outputs[0].shape:
            made = [fitted(made[0], values[0], record.params[AXES], axes)]
        return made

    def _operands(self, number: int) -> list[tuple[tuple[int, int], Any]]:
        origins = self._recording.records[number].origins
        return [(it, self._recording.value(it)) for it in origins if it is not None]

    def _with_inputs(self, values: list[Any], change: InputChange) -> list[Any]:
        changed = list(values)
        if change.how == "swapped":
            one, other = change.slots
            changed[one], changed[other] = values[other], values[one]
        elif change.how in ("replaced", "ahead"):
            origin = self._numbers[change.node], change.output
            changed[change.slots[0]] = self._recording.value(origin)
        else:
            for slot in change.slots:
                changed[slot] = INPUTS[change.how](values[slot], change)
        return changed


ACCURACY = "accuracy"

WITH_ACCURACY = frozenset(
    {"exp", "exp2", "expm1", "log", "log1p", "tanh", "logistic", "sin", "cos", "sqrt", "rsqrt"}
)
"""Operations with a parameter that others in their place do not have (0.6.2)."""

INPUTS: dict[InputHow, Callable[[Any, InputChange], Any]] = {
    "transposed": lambda value, change: jnp.swapaxes(value, *map(int, change.numbers)),
    "scaled": lambda value, change: value * np.asarray(change.numbers[0], value.dtype),
    "rounded": lambda value, change: value.astype(change.dtype).astype(value.dtype),
    "rolled": lambda value, change: jnp.roll(value, int(change.numbers[1]), int(change.numbers[0])),
    "reversed": lambda value, change: jnp.flip(value, tuple(map(int, change.numbers))),
    "zeroed": lambda value, _: jnp.zeros_like(value),
    "from_zeros": lambda value, _: jnp.zeros_like(value),
    "given": lambda value, change: _given(value, change),
    "padded": lambda value, change: _padded(value, change, 0.0),
    "padded_below": lambda value, change: _padded(value, change, -math.inf),
}
"""What is done to one input."""


def _given(value: Any, change: InputChange) -> Any:
    """A value of the other side in the shape and dtype of an input; raises where it has another size."""
    if change.value is None:
        raise ValueError("no value is given")
    return jnp.asarray(unpack(change.value).reshape(value.shape), value.dtype)


def _padded(value: Any, change: InputChange, filling: float) -> Any:
    """An array with elements added at the ends of its last axes."""
    ends = list(zip(map(int, change.numbers[::2]), map(int, change.numbers[1::2]), strict=True))
    widths = [(0, 0)] * (value.ndim - len(ends)) + ends
    return jnp.pad(value, widths, constant_values=filling)


def _with_arguments(record: Record, values: Iterable[Any], trial: Trial) -> list[Any]:
    """What an operation yields with other parameters, or other numbers written into it."""
    params = dict(record.params)
    numbers = literals(record)
    operands = list(record.operands)
    remaining = iter(values)
    for place, origin in enumerate(record.origins):
        if origin is not None:
            operands[place] = next(remaining)
    starts = starts_of(record)
    for name, value in trial.arguments.items():
        if name in numbers:
            operands[numbers[name]] = _as_number(operands[numbers[name]], value)
        elif name == STARTS and starts and isinstance(value, tuple):
            for place, start in zip(starts, value, strict=True):
                operands[place] = _as_number(operands[place], start)
        else:
            params[name] = _as_given(params[name], value)
    if not trial.op:
        return run(record.primitive, operands, params)
    params.pop(ACCURACY, None)
    if trial.op in WITH_ACCURACY:
        params[ACCURACY] = None
    return run(getattr(jax.lax, f"{trial.op}_p"), operands, params)


def _as_number(own: Any, value: object) -> Any:
    """A number in the dtype of the one that was written into an operation."""
    return np.asarray(value, np.asarray(own).dtype)


def _as_given(own: Any, value: ArgumentValue) -> Any:
    """An argument of a record as an operation takes it; raises where it takes no such value."""
    if isinstance(own, np.dtype):
        return np.dtype(str(value))
    if type(own) is not type(value):
        raise TypeError("the parameter has another type")
    if isinstance(value, tuple) and flat(own) != own:
        return tuple(zip(value[::2], value[1::2], strict=True))  # the two ends of each axis
    return value


def _output(value: Any) -> Output:
    summary = summarise(array_of(value), dtype_of(value))
    return Output(tuple(value.shape), dtype_of(value), summary)
