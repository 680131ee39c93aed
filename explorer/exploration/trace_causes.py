"""Why two graphs part of which one at least is a trace's: its program cannot be run again, but its ops can.

An op is computed again, with other arguments, from the values that the trace has whole; by its framework as
it is found here.
"""

from collections.abc import Mapping

import msgspec

from explorer.engines.capture.recorded_values import Reason, RecordedValues
from explorer.exploration.explanations import Explanations
from explorer.model.alignment import Alignment, Untried
from explorer.model.arrays import Array
from explorer.model.causes import RecordedTrialsRequest, Tried
from explorer.model.engines import framework_of
from explorer.model.errors import MissingFrameworkError
from explorer.model.graph import GradGraph
from explorer.model.trace import Trace
from explorer.workers.workers import Workers


def why(
    alignment: Alignment,
    graphs: tuple[GradGraph, GradGraph],
    recorded: Mapping[str, Trace],
    workers: Workers | None,
) -> Alignment:
    """An alignment with its causes: those that follow from the values, and those that were tried.

    ``recorded`` are the traces by the engines of their graphs; without ``workers`` nothing is tried.
    """
    if not alignment.divergence:
        return alignment
    leaves = {
        graph.engine: _leaves(graph, recorded[graph.engine])
        for graph in graphs
        if graph.engine in recorded
    }
    values = {
        graph.engine: RecordedValues(graph, leaves[graph.engine])
        for graph in graphs
        if graph.engine in leaves
    }
    reasons: list[Reason] = []

    def may_be_tried(engine: str, node: str) -> bool:
        if engine not in values:
            return False
        reasons.append(values[engine].why_not(node))
        return not reasons[-1]

    explanations = Explanations(alignment, graphs, may_be_tried=may_be_tried)
    trials = explanations.trials()
    if not trials:
        return _explained(explanations, {}, next(iter(reasons), ""))
    if workers is None:
        return _explained(explanations, {}, "trace")
    requests = {
        graph.engine: RecordedTrialsRequest(graph, leaves[graph.engine], trials[graph.engine])
        for graph in graphs
        if graph.engine in trials
    }
    return _explained(explanations, *_tried(requests, workers))


def _explained(
    explanations: Explanations, tried: Mapping[str, Tried], untried: Untried
) -> Alignment:
    explained = explanations.explained({engine: iter(it.outputs) for engine, it in tried.items()})
    return msgspec.structs.replace(explained, untried=untried)


def _leaves(graph: GradGraph, trace: Trace) -> dict[str, Array]:
    """What the step started from and a trace has whole, by the ids of the leaves."""
    kept = {start.name: start.value for start in trace.start if start.value.excerpt is None}
    return {
        node.id: kept[node.name]
        for node in graph.nodes
        if node.kind in ("input", "parameter") and node.name in kept
    }


def _tried(
    requests: Mapping[str, RecordedTrialsRequest], workers: Workers
) -> tuple[dict[str, Tried], Untried]:
    """The outcomes by engine, and why some of them are missing."""
    tried: dict[str, Tried] = {}
    untried: Untried = ""
    for engine, request in requests.items():
        framework = framework_of(engine)
        target = f"explorer.engines.{framework}.trials:try_out_recorded"
        try:
            answer = workers.call(str(framework), target, request, Tried)
        except MissingFrameworkError:
            untried = "framework"
            continue
        if isinstance(answer, Tried):
            tried[engine] = answer
        else:
            untried = "lost"
    return tried, untried
