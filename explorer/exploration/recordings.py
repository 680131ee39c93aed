"""What is recorded of programs: reports on steps, and trainings in workers, from one start, and compared."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from explorer.compare.align import align
from explorer.compare.causes.explanations import Explanations
from explorer.compare.results.verdicts import alike_updates
from explorer.compare.training.comparison import compare
from explorer.compare.training.inputs import in_names_of_trace
from explorer.engines.capture.recorded_values import Reason, RecordedValues
from explorer.exploration.explore import devices_of
from explorer.exploration.options import RunOptions
from explorer.model.alignment import Alignment, Untried
from explorer.model.arrays import first_elements, pack, unpack
from explorer.model.causes import RecordedTrialsRequest, Tried
from explorer.model.divergence import OtherStart, OtherValue
from explorer.model.engines import (
    ENGINES,
    STANDARD,
    WATCHED,
    engine_named,
    framework_of,
    placed,
    plain,
)
from explorer.model.errors import MissingFrameworkError, UsageError
from explorer.model.graph import GradGraph, Output
from explorer.model.report import Report
from explorer.model.requests import NetRequest, TrainingRequest
from explorer.model.results import Leaf
from explorer.model.trace import Missing, Trace
from explorer.model.training import Drift, Training
from explorer.model.training_comparison import TrainingComparison
from explorer.numeric.random_arrays import moved_by_rounding
from explorer.recording.starts import HELD
from explorer.scenario.common_start import settle
from explorer.scenario.declaration import Declaration
from explorer.scenario.devices import parse
from explorer.text.choices import choose
from explorer.text.language import _, code
from explorer.workers.queue import Progress, no_progress
from explorer.workers.workers import Workers

# Steps


def names_of(paths: Sequence[Path]) -> list[str]:
    """A name for each trace by its file; two files of one name have their folder's before it."""
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.resolve().parent.name}/{path.stem}" for path in paths]
    if len(set(names)) < len(names):
        names = [f"{name} {place}" for place, name in enumerate(names, 1)]
    return names


def graph_of(trace: Trace, name: str) -> GradGraph:
    """The graph of a trace, with the trace's name in its engine's; UsageError where it has none."""
    if trace.graph is None:
        errors = [missing.error for missing in trace.missing if missing.error is not None]
        reason = f"{errors[0].type}: {errors[0].message}" if errors else _("nothing was recorded")
        raise UsageError(_("{name} has no graph: {reason}"), name=repr(name), reason=reason)
    own = trace.graph.engine
    engine = own if name == own else placed(own, name)
    return replace(trace.graph, engine=engine, case=name)


def report_on(traces: Mapping[str, Trace], workers: Workers | None = None) -> Report:
    """The report on one trace, or on two and how their graphs align; the traces by their names.

    With ``workers``, ops are computed again where the two first differ.
    """
    first = next(iter(traces.values()))
    traces = {name: in_names_of_trace(first, trace) for name, trace in traces.items()}
    graphs = {name: graph_of(trace, name) for name, trace in traces.items()}
    inputs, parameters = (
        tuple(Leaf(start.name, start.value) for start in first.start if start.role == role)
        for role in ("input", "parameter")
    )
    report = Report(
        scenario=" | ".join(traces),
        title=" | ".join(traces),
        notes="",
        versions={},
        environments={name: trace.versions for name, trace in traces.items()},
        devices={graphs[name].engine: " ".join(trace.devices) for name, trace in traces.items()},
        inputs=inputs,
        parameters=parameters,
        cases=(),
        graphs=tuple(graphs.values()),
    )
    if len(graphs) < 2:
        return report
    left, right = graphs.values()
    alignment = align(left, right, alike=alike_updates(*traces.values()))
    recorded = {graphs[name].engine: trace for name, trace in traces.items()}
    return replace(report, alignments=(why(alignment, (left, right), recorded, workers),))


def why(
    alignment: Alignment,
    graphs: tuple[GradGraph, GradGraph],
    recorded: Mapping[str, Trace],
    workers: Workers | None,
) -> Alignment:
    """An alignment with its causes: those that follow from the values, and those that were tried.

    ``recorded`` are the traces by the engines of their graphs: their programs cannot be run again, but an
    op can, with other arguments, from the values that the trace has whole, by its framework as it is found
    here. Without ``workers`` nothing is tried.
    """
    if not alignment.divergence:
        return alignment
    values: dict[str, RecordedValues] = {}
    for graph in graphs:
        if graph.engine in recorded:
            # What the step started from and the trace has whole, by the ids of the leaves.
            starts = recorded[graph.engine].start
            kept = {start.name: start.value for start in starts if start.value.excerpt is None}
            own = (it for it in graph.nodes if it.kind in ("input", "parameter"))
            leaves = {it.id: kept[it.name] for it in own if it.name in kept}
            values[graph.engine] = RecordedValues(graph, leaves)
    reasons: list[Reason] = []

    def may_be_tried(engine: str, node: str) -> bool:
        if engine not in values:
            return False
        reasons.append(values[engine].why_not(node))
        return not reasons[-1]

    explanations = Explanations(alignment, graphs, may_be_tried=may_be_tried)
    trials = explanations.trials()
    tried: dict[str, Iterator[tuple[Output, ...]]] = {}
    untried: Untried = "" if trials else next(iter(reasons), "")
    if trials and workers is None:
        untried = "trace"
    for graph in graphs:
        engine, framework = graph.engine, framework_of(graph.engine)
        if engine not in trials or workers is None:
            continue
        request = RecordedTrialsRequest(graph, dict(values[engine].leaves), trials[engine])
        target = f"explorer.engines.{framework}.trials:try_out_recorded"
        try:
            answer = workers.call(str(framework), target, request, Tried)
        except MissingFrameworkError:
            untried = "framework"
            continue
        if isinstance(answer, Tried):
            tried[engine] = iter(answer.outputs)
        else:
            untried = "lost"
    return replace(explanations.explained(tried), untried=untried)


def do_start_apart(alignment: Alignment, left: Trace) -> bool:
    """Whether two traces first differ in what a net was started from; ``left`` is the left one."""
    divergence = alignment.divergence
    names: set[str] = set()
    if isinstance(divergence, OtherStart):
        names = {divergence.name}
    elif isinstance(divergence, OtherValue):
        alone, _others = divergence.inputs.alone
        names = {*divergence.inputs.differing, *(place.label for place in alone)}
    return any(start.name in names for start in left.start if start.role in HELD)


def with_trace(
    report: Report, trace: Trace, name: str, engine: str, workers: Workers | None = None
) -> Report:
    """A scenario's report with the alignment of a trace's graph and that of one of its engines.

    With ``workers``, ops of the trace are computed again where the two first differ.
    """
    graph = graph_of(trace, name)
    other = [candidate for candidate in report.graphs if candidate.engine == engine][-1]
    explained = why(align(graph, other), (graph, other), {graph.engine: trace}, workers)
    return replace(
        report,
        environments={**report.environments, name: trace.versions},
        devices={**report.devices, graph.engine: " ".join(trace.devices)},
        graphs=(graph, other),
        alignments=(explained,),
        cases=(),
        state=(),
    )


RANK = re.compile(r"(.+)\.rank(\d+)")
"""The stem of the file that one rank of a distributed program has written."""


def files_of_ranks(path: Path) -> list[Path]:
    """The files of all ranks of the step of which one rank has written ``path``; [] for any other file."""
    of_rank = RANK.fullmatch(path.stem)
    files = list(path.parent.glob(f"*{path.suffix}")) if of_rank else []
    found = ((RANK.fullmatch(file.stem), file) for file in files)
    numbered = {int(it[2]): file for it, file in found if it and of_rank and it[1] == of_rank[1]}
    return [file for _, file in sorted(numbered.items())]


# Trainings

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
        missing = (Missing("raised", error=reply.failure),)
        return Training(
            name=scenario.name, framework=engine.framework, engine=net.engine, missing=missing
        )

    trainings: dict[str, Training] = {}
    for name in engines:
        runs, net = [], nets.requests[name]
        for jitter in range(JITTERED + 1):
            progress(name, jitter, JITTERED + 1)
            # From the second run on, weights are moved by rounding.
            moved = dict(net.parameters)
            for weight in set(nets.trainable) & moved.keys() if jitter else ():
                start = moved[weight]
                moved[weight] = pack(moved_by_rounding(unpack(start), weight, jitter), start.dtype)
            runs.append(run(name, replace(net, parameters=moved)))
        plain_run, *others = runs
        whole = [other for other in others if len(other.steps) == len(plain_run.steps)]
        drifts = tuple(drift(plain_run, other) for other in whole)
        trainings[name] = replace(plain_run, jittered=drifts)
    # The step at which two trainings first differ whose graphs can show it.
    number = 0
    if len(trainings) > 1 and all(training.steps for training in trainings.values()):
        left, right, *_others = (replace(one, name=name) for name, one in trainings.items())
        difference = compared(left, right).difference
        are_watched = all(training.framework in WATCHED for training in trainings.values())
        if difference and (are_watched or difference.question in IN_GRADIENTS):
            number = difference.step
    for name, training in trainings.items() if number else ():
        graph = _graph(run(name, nets.requests[name], number), number)
        with_graph = tuple(
            replace(step, graph=graph) if step.number == number else step for step in training.steps
        )
        trainings[name] = replace(training, steps=with_graph)
    return trainings


def drift(plain_run: Training, other: Training) -> Drift:
    """How far a run went from another one of the same steps."""
    both = list(zip(plain_run.steps, other.steps, strict=True))
    losses = tuple(abs((left.loss or 0.0) - (right.loss or 0.0)) for left, right in both)
    distances: dict[str, dict[str, tuple[float, ...]]] = {}
    for field in ("weights", "gradients", "buffers"):
        rows: dict[str, list[float]] = {}
        for left, right in both:
            others = {leaf.name: leaf.value for leaf in getattr(right, field)}
            for leaf in getattr(left, field):
                if leaf.name in others:
                    pair = leaf.value, others[leaf.name]
                    mine, theirs = (first_elements(it).astype(np.float64) for it in pair)
                    with np.errstate(invalid="ignore"):  # an infinity less another
                        distance = float(np.linalg.norm(mine - theirs))
                    rows.setdefault(leaf.name, []).append(distance)
        # Tensors that each step has.
        distances[field] = {it: tuple(row) for it, row in rows.items() if len(row) == len(losses)}
    return Drift(losses, **distances)


# Comparisons of recorded trainings: none of them is run again


def compared(left: Training, right: Training) -> TrainingComparison:
    """Where two trainings first differ, and by which rule; UsageError where they have no step in common."""
    names = [left.name, right.name]
    if left.name == right.name:
        names = [side.engine or side.framework for side in (left, right)]
    if names[0] == names[1]:
        names = [f"{name} {place}" for place, name in enumerate(names, 1)]
    left, right = replace(left, name=names[0]), replace(right, name=names[1])
    steps = [sorted(step.number for step in side.steps) for side in (left, right)]
    if set(steps[0]).isdisjoint(steps[1]):
        text = _(
            "{left} has the steps {n} and {right} the steps {m}; record the same steps of both"
        )
        n, m = (
            f"{row[0]}–{row[-1]}" if len(set(row)) > 1 else str(row[0]) if row else _("none")
            for row in steps
        )
        raise UsageError(text, left=repr(left.name), right=repr(right.name), n=n, m=m)
    return compare(left, right)


def graphs_at(left: Training, right: Training, comparison: TrainingComparison) -> dict[str, Trace]:
    """The graphs of the step at which two trainings first differ, by their names; {} without both.

    They are there where that step was due when the trainings were recorded.
    """
    if comparison.difference is None:
        return {}
    number = comparison.difference.step
    traces = {
        name: Trace(
            name=name,
            framework=training.framework,
            step=number,
            versions=training.versions,
            devices=(training.device,),
            graph=_graph(training, number),
        )
        for training, name in ((left, comparison.left), (right, comparison.right))
    }
    return traces if all(it.graph for it in traces.values()) else {}


def report_at(
    left: Training, right: Training, comparison: TrainingComparison, workers: Workers
) -> Report | None:
    """The report on the graphs of the step at which two trainings first differ; None without both."""
    traces = graphs_at(left, right, comparison)
    return report_on(traces, workers) if traces else None


def _graph(training: Training, number: int) -> GradGraph | None:
    """The graph of a step, where it was recorded."""
    return next((step.graph for step in training.steps if step.number == number), None)
