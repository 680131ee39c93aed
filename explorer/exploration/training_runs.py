"""Trains the nets of a scenario in workers, and measures how far rounding alone takes each of them."""

from collections.abc import Sequence

import msgspec
import numpy as np

from explorer.exploration.explore import devices_of
from explorer.exploration.options import RunOptions
from explorer.exploration.trainings import compared
from explorer.model.arrays import Array, first_elements, pack, unpack
from explorer.model.engines import ENGINES, STANDARD, WATCHED, Engine, engine_named, plain
from explorer.model.errors import UsageError
from explorer.model.requests import NetRequest, TrainingRequest
from explorer.model.trace import Missing
from explorer.model.training import Drift, Training
from explorer.numeric.random_arrays import moved_by_rounding
from explorer.scenario.common_start import Nets, settle
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import parse
from explorer.text.choices import choose
from explorer.text.language import _, code
from explorer.workers.queue import Progress, no_progress
from explorer.workers.workers import Workers

TRAINED = tuple(name for name, engine in ENGINES.items() if engine.style == "tape")
"""The engines that train."""

IN_GRADIENTS = ("loss", "gradients")
"""The questions at which two trainings differ in what a gradient's graph shows, without the update."""

JITTERED = 2
"""So many runs from a start that is moved by rounding alone."""


def checked_engines(engines: Sequence[str], scenario: Declaration) -> tuple[str, ...]:
    """The engines that are to train; raises UsageError.

    By default they are those of NEEDED that have a net, or else all that have one.
    """
    having = [name for name in TRAINED if scenario.defines(engine_named(name).framework)]
    usual = [name for name in having if name in STANDARD]
    wanted = engines or usual or having
    for name in wanted:
        choose("engine", plain(name), TRAINED)
    return RunOptions(engines=wanted).wanted(scenario).engines


def trained(
    scenario: Declaration,
    workers: Workers,
    engines: tuple[str, ...],
    steps: int,
    *,
    device: str = "cpu",
    progress: Progress = no_progress,
) -> dict[str, Training]:
    """The training of a net by each engine, from one start, with its drift.

    Where two differ, the graphs of the first step at which they do are recorded in a further run.
    Raises ScenarioError as settle() does, UsageError for nets without weights, and as explore() for a
    framework or a device that is not here.
    """
    parse(device)
    devices_of(scenario, engines, device, workers)
    nets = settle(scenario, workers, engines, dict.fromkeys(engines, device))
    if not nets.trainable:
        text = _(
            "the nets of {scenario} have no weights that both train; there is nothing to train"
        )
        raise UsageError(text, scenario=scenario.name)
    trainings: dict[str, Training] = {}

    def run(name: str, net: NetRequest, graph_of: int = 0) -> Training:
        request = TrainingRequest(net, graph_of or steps, nets.has_one_loss, code(), graph_of)
        return _run(scenario, workers, engine_named(name), request)

    for name in engines:
        runs = []
        for jitter in range(JITTERED + 1):
            progress(name, jitter, JITTERED + 1)
            runs.append(run(name, _jittered(nets, name, jitter)))
        plain_run, *others = runs
        whole = [other for other in others if len(other.steps) == len(plain_run.steps)]
        drifts = tuple(drift(plain_run, other) for other in whole)
        trainings[name] = msgspec.structs.replace(plain_run, jittered=drifts)
    number = _first_difference(trainings)
    if number:
        for name, training in trainings.items():
            again = run(name, nets.requests[name], number)
            trainings[name] = _with_graph(training, again, number)
    return trainings


def _first_difference(trainings: dict[str, Training]) -> int:
    """The step at which two trainings first differ whose graphs can show it; 0 where there is none."""
    if len(trainings) < 2 or not all(training.steps for training in trainings.values()):
        return 0
    difference = compared(*_named(trainings)).difference
    if difference is None:
        return 0
    is_watched = all(training.framework in WATCHED for training in trainings.values())
    return difference.step if is_watched or difference.question in IN_GRADIENTS else 0


def _named(trainings: dict[str, Training]) -> list[Training]:
    return [
        msgspec.structs.replace(training, name=name)
        for name, training in list(trainings.items())[:2]
    ]


def _with_graph(training: Training, again: Training, number: int) -> Training:
    """A training with the graph that a further run has recorded of one step."""
    graph = next((step.graph for step in again.steps if step.number == number), None)
    steps = tuple(
        msgspec.structs.replace(step, graph=graph) if step.number == number else step
        for step in training.steps
    )
    return msgspec.structs.replace(training, steps=steps)


def _run(
    scenario: Declaration, workers: Workers, engine: Engine, request: TrainingRequest
) -> Training:
    target = f"explorer.engines.{engine.framework}.training:train"
    reply = workers.call(engine.answers_in[0], target, request, Training)
    if isinstance(reply, Training):
        return reply
    return Training(
        name=scenario.name,
        framework=engine.framework,
        engine=request.net.engine,
        missing=(Missing("raised", error=reply.failure),),
    )


def _jittered(nets: Nets, name: str, jitter: int) -> NetRequest:
    """The net of an engine; where ``jitter`` is above 0, with weights that are moved by rounding."""
    request = nets.requests[name]
    if not jitter:
        return request
    moved = dict(request.parameters)
    for weight in nets.trainable:
        if weight in moved:
            start = moved[weight]
            array = moved_by_rounding(unpack(start), weight, jitter)
            moved[weight] = pack(array, start.dtype)
    return msgspec.structs.replace(request, parameters=moved)


def drift(plain_run: Training, other: Training) -> Drift:
    """How far a run went from another one of the same steps."""
    losses = []
    for mine, theirs in zip(plain_run.steps, other.steps, strict=True):
        losses.append(abs((mine.loss or 0.0) - (theirs.loss or 0.0)))
    fields = ("weights", "gradients", "buffers")
    return Drift(tuple(losses), **{field: _distances(plain_run, other, field) for field in fields})


def _distances(plain_run: Training, other: Training, field: str) -> dict[str, tuple[float, ...]]:
    """How far the tensors of a field that each step has went, by their names."""
    distances: dict[str, list[float]] = {}
    for left, right in zip(plain_run.steps, other.steps, strict=True):
        others = {leaf.name: leaf.value for leaf in getattr(right, field)}
        for leaf in getattr(left, field):
            if leaf.name in others:
                distance = _distance(leaf.value, others[leaf.name])
                distances.setdefault(leaf.name, []).append(distance)
    count = len(plain_run.steps)
    return {name: tuple(row) for name, row in distances.items() if len(row) == count}


def _distance(left: Array, right: Array) -> float:
    mine, theirs = (first_elements(array).astype(np.float64) for array in (left, right))
    with np.errstate(invalid="ignore"):  # an infinity less another
        return float(np.linalg.norm(mine - theirs))
