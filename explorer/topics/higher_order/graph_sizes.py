"""How many operators one engine's gradient graphs have at each order; runs in its worker."""

import importlib
import time
from typing import Any

from explorer.model.engines import ENGINES
from explorer.model.graph import GradGraph
from explorer.model.measurement import Ask, Found
from explorer.model.requests import CaseRequest
from explorer.topics.higher_order import nested

OPERATOR_KINDS = {"op", "accumulate", "call"}
"""The kinds of node that compute something; leaves and results do not."""

DRAWN = 2
"""The order whose graph is kept, with its values."""


def nodes(ask: Ask) -> Found:
    """Operators of forward and gradients together, by order and stage.

    With respect to the scenario's first floating input.
    """
    name = ask.options["engine"]
    engine = importlib.import_module(ENGINES[name].module)
    # On the CPU, whatever the device looked at: counts are to be comparable.
    net = nested.started_net(Ask(ask.scenario), name, engine.describe)
    climb = nested.Climb(ask.options)
    sizes: dict[int, dict[str, Any]] = {}
    values: dict[int, dict[str, Any]] = {}
    drawn: tuple[GradGraph, ...] = ()
    for order, case in nested.cases_of_first_input(ask.scenario).items():
        end = climb.end()
        if end:
            sizes[order] = end
            continue
        start = time.perf_counter()
        # The graph of the call alone at every order, so that like is counted with like.
        request = CaseRequest(net, case, values=order == DRAWN, whole_forward=False)
        captured = engine.capture(request)
        values[order] = nested.derivative(captured.result)
        counts = {graph.stage: operators_in(graph) for graph in captured.graphs}
        sizes[order] = values[order] if captured.result.error else counts
        if order == DRAWN and not captured.result.error:
            drawn = captured.graphs[-1:]
        climb.asked(order, max(counts.values(), default=0), start)
    return Found({"engine": name, "by order": sizes, "values": values}, graphs=drawn)


def operators_in(graph: GradGraph) -> int:
    """The operators of a graph, leaves and results apart."""
    return sum(node.kind in OPERATOR_KINDS for node in graph.nodes)
