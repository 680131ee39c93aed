"""A case's graph with values kept whole, by which it is compared element by element."""

from importlib import import_module

import msgspec

from explorer.model.engines import ENGINES
from explorer.model.graph import without_large
from explorer.model.mended import Whole, WholeRequest
from explorer.model.requests import CaseRequest
from explorer.model.results import Captured
from explorer.numeric.summaries import MOST, MOST_IN_GRAPH, keeping


def capture(request: CaseRequest) -> Captured:
    """An engine's graphs of a case, with as many large values whole as there is room for."""
    engine = import_module(ENGINES[request.net.engine].module)
    with keeping(MOST, MOST_IN_GRAPH):
        captured: Captured = engine.capture(request)
    return captured


IN_EACH_RUN = 1 << 16
"""Of so many elements of a value at most the noise is measured one by one: several runs are held at once."""


def levels(request: CaseRequest) -> Captured:
    """The graph of a case with the noise of each value; its values are those of small tensors."""
    engine = ENGINES[request.net.engine]
    with keeping(IN_EACH_RUN):
        captured: Captured = import_module(f"explorer.engines.{engine.framework}.noise").capture(
            request
        )
    return msgspec.structs.replace(captured, graphs=tuple(map(without_large, captured.graphs)))


def whole(request: WholeRequest) -> Whole:
    """All elements of some outputs of the last graph that a capture of the case gives."""
    engine = import_module(ENGINES[request.request.net.engine].module)
    with keeping(MOST):
        captured: Captured = engine.capture(request.request)
    if not captured.graphs:
        return Whole((None,) * len(request.wanted))
    graph = captured.graphs[-1]
    nodes = graph.by_id()
    found = [(nodes.get(node), output) for node, output in request.wanted]
    return Whole(tuple(node.whole(output) if node else None for node, output in found))
