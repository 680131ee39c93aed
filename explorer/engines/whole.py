"""Values of a case's graph that a capture does not keep whole, from another capture."""

from importlib import import_module

from explorer.model.arrays import Array
from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.model.mended import Whole, WholeRequest
from explorer.model.results import Captured
from explorer.numeric.summaries import keeping

MOST = 1 << 24
"""So many elements are kept of a value, 64 megabytes in float32."""


def whole(request: WholeRequest) -> Whole:
    """All elements of some outputs of the last graph that a capture of the case gives."""
    engine = import_module(ENGINES[request.request.net.engine].module)
    with keeping(MOST):
        captured: Captured = engine.capture(request.request)
    if not captured.graphs:
        return Whole((None,) * len(request.wanted))
    graph = captured.graphs[-1]
    return Whole(tuple(_elements(graph, *slot) for slot in request.wanted))


def _elements(graph: GradGraph, node: str, output: int) -> Array | None:
    found = graph.by_id().get(node)
    if found is None or output >= len(found.outputs):
        return None
    summary = found.outputs[output].values
    return None if summary is None else summary.whole
