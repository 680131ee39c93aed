"""No picture is wider than it is useful, whatever stands side by side in its net."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from explorer.drawing import draw
from explorer.drawing.ladder.rows import WIDEST_ROW, narrowed, wrapped_layers
from explorer.drawing.views import ViewName
from explorer.model.graph import GradGraph
from tests.support import drawing_graphs
from tests.support.handmade_graph import HandmadeGraph
from tests.support.samples import some
from tests.support.svg_pictures import picture_size, read_svg

WIDEST = 6000.0
"""The bound on the width of a picture of a net of some hundred nodes, in points."""


def fan(count: int) -> GradGraph:
    """One value that many operators read, each of them an output of the net."""
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    for index in range(count):
        g.result(f"out{index}", g.add("exp", [x]))
    return g.record()


GRAPHS: dict[str, Callable[[], GradGraph]] = {
    "bottlenecks": lambda: drawing_graphs.bottlenecks(7),
    "experts": lambda: drawing_graphs.experts(24),
    "unrolled": lambda: drawing_graphs.unrolled(27),
    "shared": lambda: drawing_graphs.shared(100),
    "fan": lambda: fan(150),
}


@pytest.mark.slow
@pytest.mark.parametrize("view", ["ladder", pytest.param("flow", marks=pytest.mark.whole)])
@pytest.mark.parametrize("name", some(GRAPHS, "fan"))
def test_a_net_of_three_hundred_nodes_is_no_wider_than_six_thousand_points(
    name: str, view: ViewName
) -> None:
    graph = GRAPHS[name]()
    assert len(graph.nodes) >= 290
    svg = read_svg(draw(graph, format="svg", depth="all", view=view, timeout=60))
    assert picture_size(svg).width <= WIDEST


def test_branches_that_do_not_fit_side_by_side_stand_below_each_other_as_they_ran() -> None:
    nodes = [f"{branch}{step}" for branch in "abcd" for step in range(3)]
    links = [(f"{branch}{step}", f"{branch}{step + 1}") for branch in "abcd" for step in range(2)]
    layers = wrapped_layers(nodes, links, dict.fromkeys(nodes, WIDEST_ROW / 2 - 10), apart=20)
    assert layers == {
        **{f"{branch}{step}": step for branch in "ab" for step in range(3)},
        **{f"{branch}{step}": step + 3 for branch in "cd" for step in range(3)},
    }
    # A node stands below all that it reads, whatever the order of nodes.
    layers = wrapped_layers(["c", "b", "a"], [("a", "b"), ("b", "c")], dict.fromkeys("abc", 10), 5)
    assert layers == {"a": 0, "b": 1, "c": 2}
    # A box wider than a row has a row of its own.
    layers = wrapped_layers(["a", "b"], [], {"a": 2 * WIDEST_ROW, "b": 10.0}, 5)
    assert sorted(layers.values()) == [0, 1]


def test_a_narrowed_row_keeps_its_order_and_its_boxes_apart() -> None:
    centres = {"a": -9000.0, "b": 0.0, "c": 10.0, "d": 9000.0}
    narrow = narrowed([list("dcba")], centres, dict.fromkeys("abcd", 100.0), 20)
    order = sorted(narrow, key=narrow.__getitem__)
    assert order == list("abcd")
    for left, right in pairwise(order):
        assert narrow[right] - narrow[left] >= 120
    assert narrow["d"] - narrow["a"] + 100 <= WIDEST_ROW + 1
