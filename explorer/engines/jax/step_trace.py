"""The trace of a recorded step: its graph, what it started from, and what it left."""

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

import jax
import numpy as np

from explorer.engines.jax.graph_capture import RecordedGradGraph
from explorer.engines.jax.leaf_names import turned
from explorer.engines.jax.settings import settings_now
from explorer.engines.jax.step_recorder import StepRecorder
from explorer.engines.jax.step_recording import StepRecording
from explorer.engines.jax.tensors import is_plain, packed
from explorer.engines.random_digests import of_python
from explorer.engines.step_facts import Kept, by_prefix, gaps, trace_of, versions_with
from explorer.engines.step_limits import Budget, free_memory, half_of
from explorer.model.arrays import Array
from explorer.model.graph import GradGraph
from explorer.model.results import Leaf
from explorer.model.state import StateChange
from explorer.model.trace import Missing, Start, Trace
from explorer.numeric.summaries import excerpt, keeping

PACKAGES = ("jax", "jaxlib", "flax", "optax")
"""What a step depends on, where the program has imported it."""


class StepInJax:
    """One step of a program that uses JAX: recorded between start() and stop().

    ``model`` is a tree of parameters or a module of flax.nnx, or several by a prefix of their names;
    ``inputs`` are arrays by name. Of nodes, values of up to ``values`` elements are kept, and of the
    arrays that the step starts from, ``start`` elements in all. ``memory`` limits what is held
    meanwhile, in bytes.
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
        limit = half_of(free_memory()) if memory is None else memory
        self._recorder = StepRecorder(by_prefix(model), inputs or {}, limit)
        self._random = of_python()
        self._is_shared = False

    def start(self, _outermost: Any) -> None:
        """Begin to record; what already records all that runs, for a training, does it for this too."""
        running = StepRecorder.running_now()
        if running is None:
            self._recorder.start()
        else:
            self._recorder, self._is_shared = running, True
            running.keeps_values = True

    def stop(self) -> None:
        """End it."""
        if not self._is_shared:
            self._recorder.stop()

    def trace(self, name: str, step: int | None, raised: BaseException | None) -> Trace:
        """What was recorded; ``raised`` is what the step itself raised."""
        recorder = self._recorder
        with recorder.resting():
            return trace_of(
                partial(self._read, name),
                _missing(recorder, raised),
                name=name,
                framework="jax",
                step=step,
                versions=versions(),
                devices=tuple(_devices(recorder)),
                settings=recorder.settings or settings_now(),
                random=self._random,
                random_after=of_python(),
            )

    def _read(self, name: str, kept: Kept) -> None:
        with keeping(self._values):
            kept.graph = _graph(self._recorder, name)
        kept.results = tuple(_results(self._recorder))
        kept.state = tuple(_changes(self._recorder))
        kept.start = tuple(_starts(self._recorder, Budget(self._start)))


def versions() -> dict[str, str]:
    """The versions of what a step depends on."""
    return versions_with({name: version(name) for name in PACKAGES if name in sys.modules})


def _missing(recorder: StepRecorder, raised: BaseException | None) -> Iterator[Missing]:
    full_at = recorder.recording.memory if recorder.is_full else None
    yield from gaps(recorder.fault, raised, full_at)
    if not (recorder.recording.passes or recorder.is_off or raised):
        yield Missing("no_pass")


def _graph(recorder: StepRecorder, name: str) -> GradGraph:
    recording = recorder.recording
    style, stage = ("graph", "jaxpr") if recording.ran_compiled else ("tape", "tape")
    gradients = dict(recording.gradients)
    recording.set_gradients(gradients)
    return RecordedGradGraph(recording, "", values=True).record(f"jax-{style}", name, stage)


def _results(recorder: StepRecorder) -> Iterator[Leaf]:
    recording = recorder.recording
    for name, origin in {**recording.outputs, **recording.gradients}.items():
        value = recording.result(name, origin)
        if is_plain(value):
            yield Leaf(name, excerpt(_packed(recording, name.removeprefix("d"), value)))


def _changes(recorder: StepRecorder) -> Iterator[StateChange]:
    recording = recorder.recording
    numbers = {given.name: number for number, given in recording.given.items()}
    for name, origin in recording.state.items():
        if name not in numbers:
            continue
        before, after = recording.value((numbers[name], 0)), recording.value(origin)
        if is_plain(before) and not _is_same(before, after):
            arrays = (excerpt(_packed(recording, name, value)) for value in (before, after))
            yield StateChange(name, *arrays)


def _is_same(before: Any, after: Any) -> bool:
    return np.asarray(before).tobytes() == np.asarray(after).tobytes()


def _packed(recording: StepRecording, name: str, value: Any) -> Array:
    return packed(laid_out(recording, name, value))


def laid_out(recording: StepRecording, name: str, value: Any) -> Any:
    """An array as the one of that name lies in PyTorch."""
    given = recording.taken.get(name)
    return turned(value) if given is not None and given.is_turned else value


def _starts(recorder: StepRecorder, budget: Budget) -> Iterator[Start]:
    recording = recorder.recording
    for number, record in enumerate(recording.records):
        value = record.outputs[0] if record.primitive is None else None
        if value is None or not is_plain(value):
            continue
        given = recording.given.get(number)
        # As they lie in the program: its operations are computed again from these.
        kept = budget.kept(packed(value))
        if given is None:
            yield Start(record.name, "constant", kept, device_of(value))
        else:
            yield Start(given.name, given.role, kept, device_of(value), given.trained)


def _devices(recorder: StepRecorder) -> list[str]:
    """The devices that the step's arrays are on."""
    devices: dict[str, None] = {}
    for record in recorder.recording.records:
        devices.update(dict.fromkeys(map(device_of, record.outputs[:1])))
    return sorted(devices)


def device_of(value: Any) -> str:
    """The device of an array: "cpu", "cuda:0"; of one that is on several, all."""
    if not isinstance(value, jax.Array):
        return "cpu"
    names = [f"{device.platform}:{device.id}" for device in value.devices()]
    return ",".join("cpu" if name == "cpu:0" else name for name in sorted(names))
