"""Operations of JAX's graphs computed again, alone, with other arguments and inputs than they had."""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from explorer.engines.edited_inputs import Tensors, edited_inputs
from explorer.engines.jax.graph_capture import RecordedGradGraph
from explorer.engines.jax.net import WIDE, built
from explorer.engines.jax.operator_arguments import STARTS, flat, literals, starts_of
from explorer.engines.jax.other_axes import AXES, BehindOtherAxes, axes_in, fitted
from explorer.engines.jax.recorded_calls import RecordedCalls
from explorer.engines.jax.recording import Record, Recording, run
from explorer.engines.jax.styles import STYLES
from explorer.engines.jax.tensors import array_of, dtype_of
from explorer.engines.jax.versions import enable_x64
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
        changed: dict[tuple[int, int], Any] = {}
        behind: BehindOtherAxes | None = None
        made: list[Any] = []
        for node in trial.row:
            number, edits = self._numbers[node], trial.at(node)
            record = self._recording.records[number]
            operands = self._operands(number)
            values = [changed.get(it, value) for it, value in operands]
            if edits:
                made = self._edited(record, values, edits, changed)
                axes = _axes_of(edits)
                if axes is not None and len(trial.row) > 1:
                    behind = BehindOtherAxes(number, record, operands[0][1].shape, axes)
            elif behind:
                made = behind.computed(number, record, values)
            else:
                made = record.computed(values)
            changed[number, 0] = made[0]
        return made

    def _edited(
        self, record: Record, values: list[Any], edits: Edits, changed: dict[tuple[int, int], Any]
    ) -> list[Any]:
        """What an operation yields with edits; ``changed`` are the values that were computed again."""

        def value_of(node: str, output: int) -> Any:
            origin = self._numbers[node], output
            return changed[origin] if origin in changed else self._recording.value(origin)

        read = edited_inputs(values, edits, value_of, TENSORS)
        for edit in edits:
            if isinstance(edit, RemoveOperator):
                return [read[edit.hands_on]]
        made = _with_arguments(record, read, edits)
        axes = _axes_of(edits)
        if axes is not None and made[0].shape != record.outputs[0].shape:
            made = [fitted(made[0], read[0], record.params[AXES], axes)]
        return made

    def _operands(self, number: int) -> list[tuple[tuple[int, int], Any]]:
        origins = self._recording.records[number].origins
        return [(it, self._recording.value(it)) for it in origins if it is not None]


def _axes_of(edits: Edits) -> tuple[int, ...] | None:
    """Other axes of a reduction that edits give; None where they give none."""
    found = [axes_in(edit.arguments) for edit in edits if isinstance(edit, SetArguments)]
    return next((axes for axes in found if axes is not None), None)


ACCURACY = "accuracy"

WITH_ACCURACY = frozenset(
    {"exp", "exp2", "expm1", "log", "log1p", "tanh", "logistic", "sin", "cos", "sqrt", "rsqrt"}
)
"""Operations with a parameter that others in their place do not have (0.6.2)."""

INSERTED: dict[Inserted, Callable[[Any, InsertOperator], Any]] = {
    "swap_axes": lambda value, edit: jnp.swapaxes(value, *edit.numbers),
    "mul": lambda value, edit: value * np.asarray(edit.number, value.dtype),
    "cast": lambda value, edit: value.astype(edit.name).astype(value.dtype),
    "not": lambda value, _: jnp.logical_not(value),
    "roll": lambda value, edit: jnp.roll(value, edit.numbers[1], edit.numbers[0]),
    "flip": lambda value, edit: jnp.flip(value, edit.numbers),
    "reshape": lambda value, edit: value.reshape(edit.shape),
    "pad": lambda value, edit: _padded(value, edit),
}
"""What is inserted at an input."""

TENSORS = Tensors(INSERTED, jnp.zeros_like, lambda value, array: jnp.asarray(array, value.dtype))


def _padded(value: Any, edit: InsertOperator) -> Any:
    """An array with elements added at the ends of its last axes."""
    ends = list(zip(edit.numbers[::2], edit.numbers[1::2], strict=True))
    widths = [(0, 0)] * (value.ndim - len(ends)) + ends
    return jnp.pad(value, widths, constant_values=edit.number)


def _with_arguments(record: Record, values: Iterable[Any], edits: Edits) -> list[Any]:
    """What an operation, or another one, yields with other parameters or numbers written into it."""
    params = dict(record.params)
    numbers = literals(record)
    operands = list(record.operands)
    remaining = iter(values)
    for place, origin in enumerate(record.origins):
        if origin is not None:
            operands[place] = next(remaining)
    starts = starts_of(record)
    for edit in edits:
        given = edit.arguments if isinstance(edit, (SetArguments, ReplaceOperator)) else {}
        for name, value in given.items():
            if name in numbers:
                operands[numbers[name]] = _as_number(operands[numbers[name]], value)
            elif name == STARTS and starts and isinstance(value, tuple):
                for place, start in zip(starts, value, strict=True):
                    operands[place] = _as_number(operands[place], start)
            else:
                params[name] = _as_given(params[name], value)
    for edit in edits:
        if isinstance(edit, ReplaceOperator):
            params.pop(ACCURACY, None)
            if edit.op in WITH_ACCURACY:
                params[ACCURACY] = None
            return run(getattr(jax.lax, f"{edit.op}_p"), operands, params)
    return run(record.primitive, operands, params)


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
