"""The flow as data: all nodes of a graph in one lane."""

import math
from itertools import combinations

import pytest

from explorer.drawing import draw
from tests.support import drawing_graphs
from tests.support.svg_pictures import GRAPHS, boxes, edges, ends, read_svg


@pytest.mark.slow
@pytest.mark.parametrize("name", ["convolution", "branches", "decided"])
def test_all_nodes_are_drawn_downwards_without_overlap(name: str) -> None:
    graph = GRAPHS[name]()
    places = boxes(read_svg(draw(graph, format="svg", view="flow")))
    assert set(places) == {node.id for node in graph.nodes}
    assert not any(box.overlaps(other) for box, other in combinations(places.values(), 2))
    # Everything runs down, and a result stands just below what makes it.
    results = {node.id for node in graph.nodes if node.kind == "output"}
    for edge in graph.edges:
        below = places[edge.target].y - places[edge.origin].y
        assert 0 < below < (150 if edge.target in results else math.inf)


@pytest.mark.slow
def test_an_edge_is_coloured_by_its_phase_or_as_one_that_crosses() -> None:
    graph = drawing_graphs.dense_mse()
    phases = {node.id: node.phase for node in graph.nodes}
    for edge in edges(read_svg(draw(graph, format="svg", view="flow"))):
        origin, target = ends(edge)
        kind = phases[target] if phases[origin] == phases[target] else "rung"
        assert edge.get("class") == f"wire {kind}"
