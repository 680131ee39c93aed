"""Reports on traces: on one, or on two with how their graphs align."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from explorer.compare.align import align
from explorer.compare.results.steps import alike_updates
from explorer.compare.training.parameters import in_names_of_trace
from explorer.exploration.trace_causes import why
from explorer.model.alignment import Alignment
from explorer.model.divergence import OtherStart, OtherValue
from explorer.model.engines import placed
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph
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
        text = _("{name} has no graph: {reason}")
        raise UsageError(text, name=repr(name), reason=_why(trace))
    own = trace.graph.engine
    engine = own if name == own else placed(own, name)
    return msgspec.structs.replace(trace.graph, engine=engine, case=name)


def _why(trace: Trace) -> str:
    for missing in trace.missing:
        if missing.error is not None:
            return f"{missing.error.type}: {missing.error.message}"
    return _("nothing was recorded")


def report_on(traces: Mapping[str, Trace], workers: Workers | None = None) -> Report:
    """The report on one trace, or on two and how their graphs align; the traces by their names.

    With ``workers``, ops are computed again where the two first differ.
    """
    first = next(iter(traces.values()))
    traces = {name: in_names_of_trace(first, trace) for name, trace in traces.items()}
    graphs = {name: graph_of(trace, name) for name, trace in traces.items()}
    report = Report(
        scenario=" | ".join(traces),
        title=" | ".join(traces),
        notes="",
        versions={},
        environments={name: trace.versions for name, trace in traces.items()},
        devices={graphs[name].engine: " ".join(trace.devices) for name, trace in traces.items()},
        inputs=_starts(first, "input"),
        parameters=_starts(first, "parameter"),
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


def _starts(trace: Trace, role: str) -> tuple[Leaf, ...]:
    return tuple(Leaf(start.name, start.value) for start in trace.start if start.role == role)
