"""Graphviz under its time limit, the simple layout that stands in for it, and boxes in a row."""

import sys
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.drawing import draw
from explorer.drawing.layout import LayoutRequest, Wish, arrange, layered, spread
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


APART = 5.0

WISHES = st.lists(
    st.builds(Wish, centre=st.floats(-1e3, 1e3), size=st.floats(0, 100), weight=st.floats(0.5, 20)),
    max_size=12,
)


def distance(wishes: list[Wish], centres: list[float]) -> float:
    """What is to be least: the weighted squares of the distances."""
    pairs = zip(wishes, centres, strict=True)
    return sum(wish.weight * (centre - wish.centre) ** 2 for wish, centre in pairs)


@pytest.mark.slow
@settings(max_examples=50)
@given(wishes=WISHES)
def test_neighbours_keep_their_distance(wishes: list[Wish]) -> None:
    placed = list(zip(wishes, spread(wishes, APART), strict=True))
    for (left, left_centre), (right, right_centre) in pairwise(placed):
        least = (left.size + right.size) / 2 + APART
        assert right_centre - left_centre >= least - 1e-6


@pytest.mark.slow
@settings(max_examples=50)
@given(wishes=WISHES, start=st.integers(0, 11), by=st.sampled_from([-1.0, 1.0]))
def test_nothing_is_nearer_to_the_wishes(wishes: list[Wish], start: int, by: float) -> None:
    """Moving any box with all that is on its side of the row brings it no nearer."""
    centres = spread(wishes, APART)
    moved = []
    for index, centre in enumerate(centres):
        is_moved = index >= start if by > 0 else index <= start
        moved.append(centre + by if is_moved else centre)
    assert distance(wishes, centres) <= distance(wishes, moved) + 1e-6


def test_boxes_that_have_room_stand_where_they_should() -> None:
    wishes = [Wish(0.0, 10.0), Wish(50.0, 10.0), Wish(65.0, 10.0)]
    assert spread(wishes, APART) == [0.0, 50.0, 65.0]
    # Two at one place move aside by their weights.
    assert spread([Wish(0.0, 10.0), Wish(0.0, 10.0)], APART) == [-7.5, 7.5]
    heavy, light = spread([Wish(0.0, 10.0, 1e9), Wish(0.0, 10.0)], APART)
    assert heavy == pytest.approx(0.0, abs=1e-6)
    assert light == pytest.approx(15.0, abs=1e-6)
