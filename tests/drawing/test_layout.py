"""Graphviz under its time limit, and the simple layout that stands in for it."""

import sys
from itertools import combinations, pairwise

import pytest

from explorer.drawing import draw
from explorer.drawing.layout import LayoutRequest, arrange, layered
from tests.support import drawing_graphs
from tests.support.svg_pictures import SVG, boxes, read_svg, texts


def test_a_layout_that_runs_out_of_time_is_replaced_and_the_picture_says_so() -> None:
    svg = read_svg(draw(drawing_graphs.convolution(), format="svg", timeout=0.001))
    (note,) = texts(svg, "note")
    assert "Graphviz took longer than 0.001 s" in note
    assert note in (svg.findtext(f"{SVG}desc") or "")
    places = boxes(svg).values()
    assert not any(box.overlaps(other) for box, other in combinations(places, 2))


@pytest.mark.parametrize(
    ("program", "note"),
    [("/bin/false", "Graphviz ended with status 1"), ("/nowhere/python", "FileNotFoundError")],
)
def test_a_layout_process_that_fails_or_cannot_start_is_replaced(
    program: str, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    layout = arrange(LayoutRequest({"n0": (50, 20)}, []), 10)
    assert note in layout.note
    assert set(layout.places) == {"n0"}


@pytest.mark.whole
@pytest.mark.slow
def test_a_graph_too_large_for_graphviz_is_drawn_without_it() -> None:
    svg = read_svg(draw(drawing_graphs.chain(4000), format="svg", depth="all"))
    assert len(boxes(svg)) == 4000
    assert "more than the 1500" in (svg.findtext(f"{SVG}desc") or "")


@pytest.mark.slow
def test_graphviz_puts_the_last_at_the_bottom() -> None:
    sizes = dict.fromkeys(("n0", "n1", "n2", "n3"), (50.0, 20.0))
    request = LayoutRequest(sizes, [("n0", "n1"), ("n0", "n2"), ("n2", "n3")], bottom_row=["n1"])
    layout = arrange(request, 60)
    assert layout.note == ""
    heights = {node: y for node, (_, y) in layout.places.items()}
    assert max(heights, key=heights.__getitem__) == "n1"


def test_simple_layers_run_down_and_keep_neighbours_apart() -> None:
    links = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "e")]
    sizes = dict.fromkeys("abcde", (40.0, 20.0))
    layer = {"a": 0, "b": 1, "c": 1, "d": 2, "e": 2}
    places = layered(sizes, links, layer, column_gap=10.0, row_gap=30.0)
    for origin, target in links:
        assert places[target][1] >= places[origin][1] + 50
    assert places["e"][1] == places["d"][1]
    for row in (["b", "c"], ["d", "e"]):
        for left, right in pairwise(sorted(places[node][0] for node in row)):
            assert right - left >= 50
