"""An SVG beyond what stands where: marks, numbers, names, its legend, its counts and its descriptions."""

import msgspec
import pytest

from explorer.drawing import draw, pair
from explorer.model.graph import Output
from tests.support import drawing_graphs
from tests.support.handmade_graph import HandmadeGraph
from tests.support.svg_pictures import SVG, boxes, boxes_by_op, read_svg, texts

pytestmark = pytest.mark.slow


def test_accumulated_gradients_and_values_that_are_not_finite_are_marked() -> None:
    svg = read_svg(draw(drawing_graphs.convolution(), format="svg"))
    places = boxes_by_op(svg)
    assert "accumulate" in places["AddN"].classes
    assert "alarm" in places["Conv2DBackpropFilter"].classes
    assert "alarm" not in places["Conv2DBackpropInput"].classes
    assert "quiet" in places["Reshape"].classes
    assert "108 of 108 not finite" in texts(svg)


def test_pair_numbers_stand_on_both_pictures() -> None:
    graph = drawing_graphs.tiny()
    svg = read_svg(pair(graph, graph, numbers=({"n1": 7}, {"n1": 7}), titles=("one", "other")))
    numbered = [id_ for id_, box in boxes(svg).items() if box.element.get("data-pair") == "7"]
    assert numbered == ["left-n1", "right-n1"]
    # The two pictures share no id.
    ids = [element.attrib["id"] for element in svg.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_a_stage_without_values_says_so_once_in_its_legend() -> None:
    known = drawing_graphs.decided()
    bare = []
    for node in known.nodes:
        outputs = tuple(Output(output.shape, output.dtype) for output in node.outputs)
        bare.append(msgspec.structs.replace(node, outputs=outputs))
    for graph, count in ((known, 0), (msgspec.structs.replace(known, nodes=tuple(bare)), 1)):
        said = texts(read_svg(draw(graph, format="svg")))
        assert sum("This stage has no values" in text for text in said) == count


def test_the_svg_is_described_and_named() -> None:
    graph = drawing_graphs.dense_mse()
    svg = read_svg(draw(graph, format="svg", title="dense & mse", prefix="a-"))
    assert svg.get("role") == "img"
    assert svg.findtext(f"{SVG}title") == "dense & mse"
    assert "9 backward nodes" in (svg.findtext(f"{SVG}desc") or "")
    named = {element.get("id") for element in svg if element.get("id")}
    assert set(svg.attrib["aria-labelledby"].split()) <= named
    tooltip = boxes(svg)["a-n4"].element.findtext(f"{SVG}title") or ""
    for part in ("mm", "scope: fc", "source: net.py:12", "float32", "[[20]]"):
        assert part in tooltip


@pytest.mark.parametrize(
    ("count", "kept"),
    [(0, ""), (1, ", 1 value kept for backward"), (2, ", 2 values kept for backward")],
)
def test_a_picture_counts_its_nodes_and_what_is_kept(count: int, kept: str) -> None:
    g = HandmadeGraph()
    value = g.leaf("x", "input")
    made = [value := g.add("exp", [value]) for _ in range(3)]
    g.result("y", value)
    gradient = g.seed()
    for place, node in enumerate(reversed(made)):
        gradient = g.back("mul", node, [gradient], [node] if place < count else [])
    g.gradient("dx", gradient)
    said = "\n".join(texts(read_svg(draw(g.record(), format="svg"))))
    assert f"5 forward, 5 backward nodes{kept}" in said
    assert ("kept for backward" in said.split("backward nodes")[1][:40]) is bool(count)
