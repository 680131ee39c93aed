"""The training of a scenario's net: its steps one by one, with what a framework's recorder notes of each."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from explorer.model.engines import Framework
from explorer.model.errors import ScenarioError
from explorer.model.failures import Failure
from explorer.model.requests import TrainingRequest
from explorer.model.results import Leaf
from explorer.model.trace import Missing, Trace
from explorer.model.training import Batch, Training, TrainingStep
from explorer.numeric.summaries import brief
from explorer.scenario.declaration import Declaration
from explorer.scenario.training import Pass, Plan, plan_of
from explorer.text.language import said_in

RATE = 0.01
"""The learning rate of the plain gradient descent that trains a net without an optimizer of its own."""

Step = Callable[[tuple[Pass, ...]], Sequence[float | None]]
"""Makes one update by the gradients of some passes; the losses of these, None for what the recorder sees."""


def trained(
    request: TrainingRequest,
    framework: Framework,
    scenario: Declaration,
    recorder: Any,
    begin: Callable[[Plan], Step],
    whole_step: Callable[[], Any],
    failure: Callable[[BaseException, str], Failure],
) -> Training:
    """Train a net, and record it; what its code raises is said in the record.

    ``recorder`` is that of a framework, between whose begin() and end() each step runs. ``begin`` gives
    the function that makes a step, for what the scenario says of its training. ``whole_step`` makes what
    records the graph of one.
    Raises ScenarioError.
    """
    steps: list[TrainingStep] = []
    missing: list[Missing] = []
    with said_in(request.language):
        plan = plan_of(scenario, framework, request.steps)
        try:
            step = begin(plan)
            for number, passes in enumerate(plan.batches, 1):
                graph = whole_step() if number == request.graph_of else None
                recorder.begin()
                try:
                    with _recorded(graph):
                        losses = step(passes)
                finally:
                    recorded = recorder.end(number)
                if recorded is not None:
                    recorded = _with_graph(recorded, graph)
                    steps.append(_with_data(recorded, passes, losses))
        except ScenarioError:
            raise
        except Exception as error:
            missing.append(Missing("raised", error=failure(error, request.net.scenario)))
    return Training(
        name=scenario.name,
        framework=framework,
        engine=request.net.engine,
        optimizer=recorder.optimizer,
        versions=recorder.versions,
        device=recorder.device,
        start=recorder.start,
        steps=tuple(steps),
        missing=(*recorder.missing, *missing),
    )


@contextmanager
def _recorded(graph: Any) -> Iterator[None]:
    """The block in which a step is run whose graph is recorded, if it is."""
    if graph is None:
        yield
        return
    graph.start(sys._getframe())
    try:
        yield
    finally:
        graph.stop()


def _with_graph(step: TrainingStep, graph: Any) -> TrainingStep:
    if graph is None:
        return step
    trace: Trace = graph.trace("", step.number, None)
    return msgspec.structs.replace(step, graph=trace.graph)


def _with_data(
    step: TrainingStep, passes: tuple[Pass, ...], losses: Sequence[float | None]
) -> TrainingStep:
    """A step with its data by the names of the scenario's inputs, and with the losses that are known."""
    batches = []
    for batch, arrays, loss in zip(step.batches, passes, losses, strict=True):
        data = (Leaf(name, brief(array, array.dtype.name)) for name, array in arrays.items())
        known = batch.loss if loss is None else loss
        batches.append(Batch(tuple(data), known, batch.gradients))
    return msgspec.structs.replace(step, batches=tuple(batches))
