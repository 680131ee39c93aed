"""Trainings: nets are trained in workers, from one start and from starts moved by rounding, and compared."""

from collections.abc import Sequence

import msgspec
import numpy as np

from explorer.compare.training.comparison import compare
from explorer.exploration.explore import devices_of
from explorer.exploration.options import RunOptions
from explorer.exploration.traces import report_on
from explorer.model.arrays import first_elements, pack, unpack
from explorer.model.engines import ENGINES, STANDARD, WATCHED, engine_named, plain
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.model.requests import NetRequest, TrainingRequest
from explorer.model.trace import Missing, Trace
from explorer.model.training import Drift, Training
from explorer.model.training_comparison import TrainingComparison
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

    def run(name: str, net: NetRequest, graph_of: int = 0) -> Training:
        engine = engine_named(name)
        request = TrainingRequest(net, graph_of or steps, nets.has_one_loss, code(), graph_of)
        target = f"explorer.engines.{engine.framework}.training:train"
        reply = workers.call(engine.answers_in[0], target, request, Training)
        if isinstance(reply, Training):
            return reply
        return Training(
            name=scenario.name,
            framework=engine.framework,
            engine=net.engine,
            missing=(Missing("raised", error=reply.failure),),
        )

    trainings: dict[str, Training] = {}
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
            graph = _graph(run(name, nets.requests[name], number), number)
            with_graph = tuple(
                msgspec.structs.replace(step, graph=graph) if step.number == number else step
                for step in training.steps
            )
            trainings[name] = msgspec.structs.replace(training, steps=with_graph)
    return trainings


def _jittered(nets: Nets, name: str, jitter: int) -> NetRequest:
    """The net of an engine; where ``jitter`` is above 0, with weights that are moved by rounding."""
    request = nets.requests[name]
    moved = dict(request.parameters)
    for weight in nets.trainable if jitter else ():
        if weight in moved:
            start = moved[weight]
            array = moved_by_rounding(unpack(start), weight, jitter)
            moved[weight] = pack(array, start.dtype)
    return msgspec.structs.replace(request, parameters=moved)


def _first_difference(trainings: dict[str, Training]) -> int:
    """The step at which two trainings first differ whose graphs can show it; 0 where there is none."""
    if len(trainings) < 2 or not all(training.steps for training in trainings.values()):
        return 0
    left, right = (
        msgspec.structs.replace(training, name=name)
        for name, training in list(trainings.items())[:2]
    )
    difference = compared(left, right).difference
    if difference is None:
        return 0
    is_watched = all(training.framework in WATCHED for training in trainings.values())
    return difference.step if is_watched or difference.question in IN_GRADIENTS else 0


def drift(plain_run: Training, other: Training) -> Drift:
    """How far a run went from another one of the same steps."""
    losses: list[float] = []
    fields = ("weights", "gradients", "buffers")
    distances: dict[str, dict[str, list[float]]] = {field: {} for field in fields}
    for left, right in zip(plain_run.steps, other.steps, strict=True):
        losses.append(abs((left.loss or 0.0) - (right.loss or 0.0)))
        for field, rows in distances.items():
            others = {leaf.name: leaf.value for leaf in getattr(right, field)}
            for leaf in getattr(left, field):
                if leaf.name in others:
                    mine, theirs = (
                        first_elements(array).astype(np.float64)
                        for array in (leaf.value, others[leaf.name])
                    )
                    with np.errstate(invalid="ignore"):  # an infinity less another
                        distance = float(np.linalg.norm(mine - theirs))
                    rows.setdefault(leaf.name, []).append(distance)
    # Tensors that each step has.
    whole = {
        field: {name: tuple(row) for name, row in rows.items() if len(row) == len(losses)}
        for field, rows in distances.items()
    }
    return Drift(tuple(losses), **whole)


# Comparisons of recorded trainings: none of them is run again


def compared(left: Training, right: Training) -> TrainingComparison:
    """Where two trainings first differ, and by which rule; UsageError where they have no step in common."""
    if left.name == right.name:
        left, right = (
            msgspec.structs.replace(side, name=side.engine or side.framework)
            for side in (left, right)
        )
    if left.name == right.name:
        left = msgspec.structs.replace(left, name=f"{left.name} 1")
        right = msgspec.structs.replace(right, name=f"{right.name} 2")
    steps = [{step.number for step in side.steps} for side in (left, right)]
    if not steps[0] & steps[1]:
        text = _(
            "{left} has the steps {n} and {right} the steps {m}; record the same steps of both"
        )
        n, m = map(_numbers, steps)
        raise UsageError(text, left=repr(left.name), right=repr(right.name), n=n, m=m)
    return compare(left, right)


def graphs_at(left: Training, right: Training, comparison: TrainingComparison) -> dict[str, Trace]:
    """The graphs of the step at which two trainings first differ, by their names; {} without both.

    They are there where that step was due when the trainings were recorded.
    """
    if comparison.difference is None:
        return {}
    number = comparison.difference.step
    traces: dict[str, Trace] = {}
    for training, name in ((left, comparison.left), (right, comparison.right)):
        graph = _graph(training, number)
        if graph is None:
            return {}
        traces[name] = Trace(
            name=name,
            framework=training.framework,
            step=number,
            versions=training.versions,
            devices=(training.device,),
            graph=graph,
        )
    return traces


def report_at(
    left: Training, right: Training, comparison: TrainingComparison, workers: Workers
) -> Report | None:
    """The report on the graphs of the step at which two trainings first differ; None without both."""
    traces = graphs_at(left, right, comparison)
    return report_on(traces, workers) if traces else None


def _graph(training: Training, number: int) -> GradGraph | None:
    """The graph of a step, where it was recorded."""
    return next((step.graph for step in training.steps if step.number == number), None)


def _numbers(steps: set[int]) -> str:
    if not steps:
        return _("none")
    return f"{min(steps)}–{max(steps)}" if len(steps) > 1 else str(min(steps))
