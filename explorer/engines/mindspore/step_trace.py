"""The trace of a recorded step: its graph, what it started from, and what it left."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import mindspore as ms

from explorer.engines.mindspore.net import dtype_of
from explorer.engines.mindspore.settings import GRAPH_MODE, random_states, settings_now
from explorer.engines.mindspore.step_capture import Known
from explorer.engines.mindspore.step_recorder import StepRecorder
from explorer.engines.mindspore.versions import has, since
from explorer.engines.step_facts import Kept, by_prefix, gaps, trace_of, versions_with
from explorer.engines.step_limits import Budget, free_memory, half_of
from explorer.model.arrays import AnyArray, Array, pack
from explorer.model.results import Leaf
from explorer.model.state import StateChange
from explorer.model.trace import Missing, Start, Trace
from explorer.numeric.summaries import excerpt, keeping
from explorer.scenario.layouts import to_torch

LEAVES = ("parameter", "input")
"""The roles of tensors that may be trained."""


class StepInMindSpore:
    """One step of a program that uses MindSpore: recorded between start() and stop().

    ``model`` is a Cell, or Cells by a prefix of their names; ``inputs`` are tensors by name. Of nodes,
    values of up to ``values`` elements are kept, and of the tensors that the step starts from, ``start``
    elements in all. ``memory`` limits what is held meanwhile, in bytes.
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
        if not has("Tensor._grad_node"):
            model = inputs = None  # nothing of the step is seen
        limit = half_of(free_memory()) if memory is None else memory
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
        trace = trace_of(
            partial(self._read, name),
            _missing(recorder, raised),
            name=name,
            framework="mindspore",
            step=step,
            versions=versions(),
            devices=(str(ms.get_context("device_target")).lower(),),
            settings=recorder.settings or settings_now(),
            random=self._random,
            random_after=random_states(),
        )
        recorder.let_go()
        return trace

    def _read(self, name: str, kept: Kept) -> None:
        recorder, capture = self._recorder, self._recorder.capture
        with keeping(self._values):
            capture.add_state()
            capture.graph.read_values()
            recorder.measure_noise()
        kept.results = tuple(_results(recorder))
        kept.state = tuple(_changes(recorder))
        kept.start = tuple(_starts(recorder, Budget(self._start)))
        if recorder.gradient is not None:
            with keeping(self._values):
                kept.graph = recorder.gradient.graph(name, recorder.layers(), recorder.path_of)
            kept.results = tuple(_results(recorder))  # it finds gradients that are not returned
        elif has("Tensor._grad_node"):
            kept.graph = capture.record(name, recorder.layers())


def versions() -> dict[str, str]:
    """The versions of what a step depends on."""
    return versions_with({"mindspore": ms.__version__})


def _missing(recorder: StepRecorder, raised: BaseException | None) -> Iterator[Missing]:
    full_at = recorder.memory if recorder.is_full else None
    yield from gaps(recorder.fault, raised, full_at)
    if settings_now()["mode"] == GRAPH_MODE and recorder.gradient is None:
        yield Missing("graph_mode")
    if recorder.compiled:
        yield Missing("compiled_calls", str(recorder.compiled))
    if not has("Tensor._grad_node"):
        yield Missing("older_version", since("Tensor._grad_node"))
    elif not has("MsDispatchMode"):
        yield Missing("older_backward", since("MsDispatchMode"))


def _changes(recorder: StepRecorder) -> Iterator[StateChange]:
    for known, before, after in recorder.capture.changes():
        yield StateChange(
            known.name, excerpt(_packed(known, before)), excerpt(_packed(known, after))
        )


def _packed(known: Known, array: AnyArray) -> Array:
    """The record of the values of a tensor, laid out as in PyTorch."""
    return pack(to_torch(array, known.layout), dtype_of(known.tensor))


def _results(recorder: StepRecorder) -> Iterator[Leaf]:
    capture = recorder.capture
    if recorder.gradient is not None:
        for name, array, dtype, layout, _ in recorder.gradient.returned:
            yield Leaf(name, excerpt(pack(to_torch(array, layout), dtype)))
    for name, number in capture.outputs.items():
        array = capture.graph.array((number, 0))
        known = capture.known.get(name.removeprefix("d"))
        layout = known.layout if known and name.startswith("d") else ()
        dtype = dtype_of(capture.graph.first_output(number))
        yield Leaf(name, excerpt(pack(to_torch(array, layout), dtype)))


def _starts(recorder: StepRecorder, budget: Budget) -> Iterator[Start]:
    capture = recorder.capture
    numbers = set()
    for known in capture.known.values():
        numbers.add(known.number)
        value = budget.kept(_packed(known, capture.before(known)))
        is_trained = known.role in LEAVES and bool(getattr(known.tensor, "requires_grad", False))
        yield Start(known.name, known.role, value, trained=is_trained)
    for number, node in enumerate(capture.graph.nodes):
        if node.kind == "constant" and node.phase == "forward" and number not in numbers:
            tensor = capture.graph.first_output(number)
            value = budget.kept(pack(capture.graph.array((number, 0)), dtype_of(tensor)))
            yield Start(node.name, "constant", value)
