"""The parameters of a merged module are one card, and so are their gradients."""

import pytest

from explorer.drawing.cards import cards
from explorer.drawing.marks import marks
from explorer.drawing.shown import show
from explorer.model.graph import GradGraph, Node
from tests.support import drawing_graphs
from tests.support.handmade_graph import HandmadeGraph


def leaves(graph: GradGraph) -> list[Node]:
    """Parameters and gradients in sight."""
    return [
        node
        for node in graph.nodes
        if node.kind == "parameter" or (node.kind == "output" and node.phase == "backward")
    ]


def test_a_merged_module_has_one_card_of_parameters_and_one_of_gradients() -> None:
    graph = show(drawing_graphs.bottlenecks(2), 2).graph
    assert [node.name for node in leaves(graph)] == [
        "9 parameters",
        "9 parameters",
        "9 gradients",
        "9 gradients",
        "dx",
    ]


def test_a_card_of_parameters_names_their_module_and_them() -> None:
    shown = show(drawing_graphs.bottlenecks(1), 2)
    of_cards = cards(shown.graph, marks(shown, {}))
    (card,) = [card for card in of_cards.values() if card.title == "9 parameters"]
    assert card.value.startswith("layers.0: conv1.weight, bn1")
    assert sum("parameter layers.0" in line for line in card.tooltip) == 9


@pytest.mark.parametrize(("reader_scope", "names"), [("a", ["2 parameters"]), ("", ["v", "w"])])
def test_a_parameter_that_an_operator_in_sight_reads_stays_in_sight(
    reader_scope: str, names: list[str]
) -> None:
    g = HandmadeGraph()
    x, v, w = g.leaf("x", "input"), g.leaf("v"), g.leaf("w")
    first = g.add("mul", [g.add("mul", [x, v], scope="a"), w], scope="a")
    g.result("y", g.add("add", [first, v, w], scope=reader_scope))
    graph = show(g.record(), 1).graph
    assert [node.name for node in graph.nodes if node.kind == "parameter"] == names


def test_a_bias_and_the_weight_that_backward_reads_as_well_are_in_one_card() -> None:
    g = HandmadeGraph()
    x, w, b = g.leaf("x", "input"), g.leaf("fc.weight"), g.leaf("fc.bias")
    product = g.add("mm", [x, w], scope="fc")
    g.result("y", g.add("add", [product, b], scope="fc"))
    back = g.back("mm", product, [g.seed()], [w], scope="fc")
    g.gradient("dx", back)
    graph = show(g.record(), 1).graph
    assert [node.name for node in graph.nodes if node.kind == "parameter"] == ["2 parameters"]
