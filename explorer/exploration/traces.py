"""Reports on traces: on one, or on two with how their graphs align; nothing is run for them."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from explorer.compare.align import align
from explorer.compare.updates import alike_updates
from explorer.exploration.explanations import Explanations
from explorer.model.alignment import Alignment
from explorer.model.engines import placed
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.model.results import Leaf
from explorer.model.trace import Trace
from explorer.text.language import _


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
    engine = placed(trace.graph.engine, name)
    return msgspec.structs.replace(trace.graph, engine=engine, case=name)


def _why(trace: Trace) -> str:
    for missing in trace.missing:
        if missing.error is not None:
            return f"{missing.error.type}: {missing.error.message}"
    return _("nothing was recorded")


def report_on(traces: Mapping[str, Trace]) -> Report:
    """The report on one trace, or on two and how their graphs align; the traces by their names."""
    graphs = {name: graph_of(trace, name) for name, trace in traces.items()}
    first = next(iter(traces.values()))
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
    alike = alike_updates(*traces.values())
    return msgspec.structs.replace(report, alignments=(aligned(left, right, alike),))


def with_trace(report: Report, trace: Trace, name: str, engine: str) -> Report:
    """A scenario's report with the alignment of a trace's graph and that of one of its engines."""
    graph = graph_of(trace, name)
    other = [candidate for candidate in report.graphs if candidate.engine == engine][-1]
    return msgspec.structs.replace(
        report,
        environments={**report.environments, name: trace.versions},
        devices={**report.devices, graph.engine: " ".join(trace.devices)},
        graphs=(graph, other),
        alignments=(aligned(graph, other),),
        cases=(),
        state=(),
    )


def aligned(left: GradGraph, right: GradGraph, alike: Collection[str] = ()) -> Alignment:
    """The alignment of two graphs of which one at least is a trace's.

    ``alike`` are results that are known not to differ.
    Its causes are those that follow from the recorded values: a trace cannot be run again.
    """
    alignment = align(left, right, alike=alike)
    (explained,) = Explanations((alignment,), (left, right)).explained({})
    return msgspec.structs.replace(explained, untried="trace")


def _starts(trace: Trace, role: str) -> tuple[Leaf, ...]:
    return tuple(Leaf(start.name, start.value) for start in trace.start if start.role == role)
