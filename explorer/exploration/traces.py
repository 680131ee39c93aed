"""Reports on traces: on one, or on two with how their graphs align, and why they differ."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from explorer.compare.align import align
from explorer.compare.results.steps import alike_updates
from explorer.compare.training.inputs import in_names_of_trace
from explorer.engines.capture.recorded_values import Reason, RecordedValues
from explorer.exploration.explanations import Explanations
from explorer.model.alignment import Alignment, Untried
from explorer.model.arrays import Array
from explorer.model.causes import RecordedTrialsRequest, Tried
from explorer.model.divergence import OtherStart, OtherValue
from explorer.model.engines import framework_of, placed
from explorer.model.errors import MissingFrameworkError, UsageError
from explorer.model.graph import GradGraph, Output
from explorer.model.report import Report
from explorer.model.results import Leaf
from explorer.model.trace import Trace
from explorer.recording.starts import HELD
from explorer.text.language import _
from explorer.workers.workers import Workers


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
    return msgspec.structs.replace(trace.graph, engine=engine, case=name)


def report_on(traces: Mapping[str, Trace], workers: Workers | None = None) -> Report:
    """The report on one trace, or on two and how their graphs align; the traces by their names.

    With ``workers``, ops are computed again where the two first differ.
    """
    first = next(iter(traces.values()))
    traces = {name: in_names_of_trace(first, trace) for name, trace in traces.items()}
    graphs = {name: graph_of(trace, name) for name, trace in traces.items()}
    starts: dict[str, list[Leaf]] = {"input": [], "parameter": []}
    for start in first.start:
        starts.setdefault(start.role, []).append(Leaf(start.name, start.value))
    report = Report(
        scenario=" | ".join(traces),
        title=" | ".join(traces),
        notes="",
        versions={},
        environments={name: trace.versions for name, trace in traces.items()},
        devices={graphs[name].engine: " ".join(trace.devices) for name, trace in traces.items()},
        inputs=tuple(starts["input"]),
        parameters=tuple(starts["parameter"]),
        cases=(),
        graphs=tuple(graphs.values()),
    )
    if len(graphs) < 2:
        return report
    left, right = graphs.values()
    alignment = align(left, right, alike=alike_updates(*traces.values()))
    recorded = {graphs[name].engine: trace for name, trace in traces.items()}
    explained = why(alignment, (left, right), recorded, workers)
    return msgspec.structs.replace(report, alignments=(explained,))


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
    leaves: dict[str, dict[str, Array]] = {}
    values: dict[str, RecordedValues] = {}
    for graph in graphs:
        if graph.engine in recorded:
            # What the step started from and the trace has whole, by the ids of the leaves.
            starts = recorded[graph.engine].start
            kept = {start.name: start.value for start in starts if start.value.excerpt is None}
            leaves[graph.engine] = {
                node.id: kept[node.name]
                for node in graph.nodes
                if node.kind in ("input", "parameter") and node.name in kept
            }
            values[graph.engine] = RecordedValues(graph, leaves[graph.engine])
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
        request = RecordedTrialsRequest(graph, leaves[engine], trials[engine])
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
    return msgspec.structs.replace(explanations.explained(tried), untried=untried)


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
    return msgspec.structs.replace(
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
    if of_rank is None:
        return []
    numbered = {}
    for file in path.parent.glob(f"*{path.suffix}"):
        other = RANK.fullmatch(file.stem)
        if other is not None and other[1] == of_rank[1]:
            numbered[int(other[2])] = file
    return [numbered[rank] for rank in sorted(numbered)]
