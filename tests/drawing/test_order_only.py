"""An edge that is an order only: every picture tells it from a value, and a thumbnail leaves it out."""

from xml.etree import ElementTree

import msgspec
import pytest

from explorer.drawing import draw
from explorer.drawing.views import VIEWS, ViewName, thumbnail
from explorer.model.graph import Edge, GradGraph
from tests.support.handmade_graph import HandmadeGraph
from tests.support.svg_pictures import SVG, read_svg, texts


def graph_with(*, order: bool) -> GradGraph:
    """A print that runs before a product, which reads nothing of it."""
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    printed = g.add("Print", [x])
    doubled = g.add("Mul", [x])
    g.result("y", doubled)
    graph = g.record()
    if not order:
        return graph
    edge = Edge(printed, doubled, 0, 1, kind="control")
    return msgspec.structs.replace(graph, edges=(*graph.edges, edge))


BOTH = graph_with(order=False), graph_with(order=True)


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_the_legend_says_which_edges_are_an_order_only(view: ViewName) -> None:
    without, with_order = (texts(read_svg(draw(graph, format="svg", view=view))) for graph in BOTH)
    assert "order only" not in without
    assert "order only" in with_order


@pytest.mark.parametrize(("file_format", "sign"), [("dot", "dotted"), ("mermaid", "~~~")])
def test_a_picture_as_text_has_a_line_of_its_own_for_an_order(file_format: str, sign: str) -> None:
    without, with_order = (draw(graph, format=file_format).decode() for graph in BOTH)  # type: ignore[arg-type]  # a name of a format
    assert sign not in without
    (line,) = [line for line in with_order.splitlines() if sign in line]
    assert "n1" in line
    assert "n2" in line
    assert line.index("n1") < line.index("n2")


@pytest.mark.slow
def test_a_thumbnail_has_edges_for_values_alone() -> None:
    counts = []
    for graph in BOTH:
        tree = ElementTree.fromstring(thumbnail(graph, "net"))
        counts.append(len(tree.findall(f"{SVG}path")))
    assert counts == [3, 3]
