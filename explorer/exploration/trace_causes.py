"""Why two graphs part of which one at least is a trace's: its program cannot be run again, but its ops can.

An op is computed again, with other arguments, from the values that the trace has whole; by its framework as
it is found here.
"""

from collections.abc import Mapping

import msgspec

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
    traced = [graph for graph in graphs if graph.engine in recorded]
    leaves = {graph.engine: _leaves(graph, recorded[graph.engine]) for graph in traced}
    whole = {graph.engine: _with_whole_values(graph, leaves[graph.engine]) for graph in traced}
    explanations = Explanations(
        (alignment,), graphs, is_kept=lambda engine, node: node in whole.get(engine, ())
    )
    trials = explanations.trials()
    tried: dict[str, Tried] = {}
    untried: Untried = "values" if explanations.leaves_out else ""
    if trials:
        untried = "trace"
        if workers is not None:
            requests = {
                graph.engine: RecordedTrialsRequest(
                    graph, leaves[graph.engine], trials[graph.engine]
                )
                for graph in traced
                if graph.engine in trials
            }
            tried, untried = _tried(requests, workers)
    (explained,) = explanations.explained(tried)
    return msgspec.structs.replace(explained, untried=untried)


def _leaves(graph: GradGraph, trace: Trace) -> dict[str, Array]:
    """What the step started from and a trace has whole, by the ids of the leaves."""
    kept = {start.name: start.value for start in trace.start if start.value.excerpt is None}
    return {
        node.id: kept[node.name]
        for node in graph.nodes
        if node.kind in ("input", "parameter") and node.name in kept
    }


def _with_whole_values(graph: GradGraph, leaves: Mapping[str, Array]) -> frozenset[str]:
    """The ids of the nodes of which all that they read is there, element by element."""
    nodes = graph.by_id()
    partly = set()
    for edge in graph.edges:
        if edge.kind != "control" and edge.origin not in leaves:
            summary = nodes[edge.origin].outputs[edge.output].values
            if summary is None or summary.whole is None:
                partly.add(edge.target)
    return frozenset(nodes.keys() - partly)


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
