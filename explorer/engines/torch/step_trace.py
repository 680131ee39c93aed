"""The trace of a recorded step: its graph, what it started from, and what it left."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch

from explorer.engines.step_facts import Kept, by_prefix, gaps, trace_of, versions_with
from explorer.engines.step_limits import Budget, free_memory, half_of
from explorer.engines.torch.settings import random_states, settings_now
from explorer.engines.torch.step_recorder import StepRecorder
from explorer.engines.torch.tape_capture import TapeRecording
from explorer.engines.torch.tape_records import Origin
from explorer.engines.torch.tensors import changed, packed
from explorer.model.results import Leaf
from explorer.model.state import StateChange
from explorer.model.trace import Missing, Start, StartRole, Trace
from explorer.numeric.summaries import excerpt, keeping

COUNTER = ".step"
"""How the names of an optimizer's counters end: they are no results."""


class StepInTorch:
    """One step of a program that uses PyTorch: recorded between start() and stop().

    ``model`` is a module, or modules by a prefix of their names; ``inputs`` are tensors by name. Of
    nodes, values of up to ``values`` elements are kept, and of the tensors that the step starts from,
    ``start`` elements in all. ``memory`` limits what is held meanwhile, in bytes.
    """

    def __init__(
        self,
        model: Any = None,
        inputs: Mapping[str, Any] | None = None,
        *,
        values: int,
        start: int,
        memory: int | None,
    ) -> None:
        self._values = values
        self._start = start
        limit = memory_to_use() if memory is None else memory
        self._recorder = StepRecorder(by_prefix(model), inputs or {}, limit)
        self._random = random_states()

    def start(self, outermost: Any) -> None:
        """Begin to record; ``outermost`` is the frame that the step is run from."""
        self._recorder.start(outermost)

    def stop(self) -> None:
        """End it."""
        self._recorder.stop()

    def trace(self, name: str, step: int | None, raised: BaseException | None) -> Trace:
        """What was recorded; ``raised`` is what the step itself raised."""
        recorder = self._recorder
        with torch.no_grad():
            return trace_of(
                partial(self._read, name),
                _missing(recorder, raised),
                name=name,
                framework="torch",
                step=step,
                versions=versions(),
                devices=tuple(_devices(recorder)),
                settings=recorder.settings or settings_now(),
                random=self._random,
                random_after=random_states(),
            )

    def _read(self, name: str, kept: Kept) -> None:
        recorder = self._recorder
        kept.start = tuple(_starts(recorder, Budget(self._start)))
        recording = _recording(recorder)
        with keeping(self._values):
            kept.graph = recording.graph(name, values=True)
        kept.results = tuple(_results(recording))
        kept.state = tuple(_changes(recorder))


def versions() -> dict[str, str]:
    """The versions of what a step depends on."""
    return versions_with({"torch": str(torch.__version__)})


def memory_to_use() -> int:
    """Half of the memory that is free, of the device in use that has the least; in bytes."""
    free = free_memory()
    if torch.cuda.is_initialized():
        free += [torch.cuda.mem_get_info(index)[0] for index in range(torch.cuda.device_count())]
    return half_of(free)


def _missing(recorder: StepRecorder, raised: BaseException | None) -> Iterator[Missing]:
    full_at = recorder.memory if recorder.is_full else None
    yield from gaps(recorder.fault, raised, full_at)
    if recorder.compiled:
        yield Missing("compiled", str(recorder.compiled))
    elif recorder.has_compiled_modules:
        yield Missing("compiled_eagerly")
    if recorder.has_unknown_heads:
        yield Missing("unknown_heads")


def _recording(recorder: StepRecorder) -> TapeRecording:
    changed_now = {name: after for name, _, after in _changed(recorder)}
    state = {}
    for name, after in {**changed_now, **recorder.made}.items():
        if after.is_floating_point() and not name.endswith(COUNTER):
            state[name] = after, after.detach()
    return TapeRecording(recorder, None, recorder.results(), recorder.gradients, state)


def _changed(recorder: StepRecorder) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """The parameters and buffers that the step has changed, as they were and as they are."""
    for name, after in recorder.given.items():
        before = recorder.records[recorder.leaves[name]].outputs[0]
        if recorder.roles[name] != "input" and changed(before, after):
            yield name, before, after


def _changes(recorder: StepRecorder) -> Iterator[StateChange]:
    for name, before, after in _changed(recorder):
        yield StateChange(name, excerpt(packed(before)), excerpt(packed(after.detach())))


def _results(recording: TapeRecording) -> Iterator[Leaf]:
    for name, origin in {**recording.outputs, **recording.gradients}.items():
        yield Leaf(name, excerpt(packed(_value(recording, origin))))


def _value(recording: TapeRecording, origin: Origin) -> torch.Tensor:
    return recording.tensor(origin).detach()


def _starts(recorder: StepRecorder, budget: Budget) -> Iterator[Start]:
    names = {number: name for name, number in recorder.leaves.items()}
    for number, record in enumerate(recorder.records):
        if record.operator is not None or record.kind not in ("input", "parameter", "constant"):
            continue
        name = names.get(number, record.name)
        role: StartRole = recorder.roles.get(name, "constant")
        tensor = record.outputs[0].detach()
        value = budget.kept(packed(tensor))
        yield Start(name, role, value, str(tensor.device), name in recorder.trainable)


def _devices(recorder: StepRecorder) -> list[str]:
    """The devices that the step's tensors are on."""
    devices: dict[str, None] = {}
    for record in recorder.records:
        devices.update(dict.fromkeys(str(tensor.device) for tensor in record.outputs[:1]))
    return sorted(devices)
