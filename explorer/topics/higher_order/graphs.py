"""How many operators a gradient has at each order; what one engine captures, counted. Run in that
engine's worker.
"""

import importlib
from typing import Any

from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.higher_order import given

OPERATORS = {"op", "accumulate", "call"}


def nodes(ask: Ask) -> Found:
    """Operators of forward and gradients together, by order and stage, at the scenario's first
    floating input.
    """
    engine = importlib.import_module(ENGINES[ask.options["engine"]].module)
    net = given.asked(ask, ask.options["engine"], engine.describe)
    figures: dict[int, dict[str, Any]] = {}
    values: dict[int, dict[str, Any]] = {}
    drawn: tuple[GradGraph, ...] = ()
    last, size = 0, 0
    for order, case in next(iter(given.cases(ask.scenario).values())).items():
        if size > ask.options["largest"]:
            figures[order] = given.beyond(last, size)
            continue
        captured = engine.capture(CaseRequest(net, case, values=order == DRAWN))
        error, values[order] = captured.result.error, given.derivative(captured.result)
        figures[order] = (
            values[order] if error else {each.stage: count(each) for each in captured.graphs}
        )
        last, size = order, max(map(count, captured.graphs), default=0)
        drawn = captured.graphs[-1:] if order == DRAWN and not error else drawn
    return Found({"engine": net.engine, "by order": figures, "values": values}, graphs=drawn)


def count(graph: GradGraph) -> int:
    """The operators of a graph, leaves and results apart."""
    return sum(node.kind in OPERATORS for node in graph.nodes)


DRAWN = 2
"""The order whose graph is kept, with its values."""
