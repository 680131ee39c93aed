"""The ladder as data: the places of boxes, the ends of edges, and that nothing overlaps."""

import math
import re
from collections import defaultdict
from itertools import combinations, pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from explorer.drawing import draw
from explorer.drawing.label_text import measure
from explorer.engines.capture.lint import lint
from explorer.model.graph import GradGraph
from tests.support import drawing_graphs
from tests.support.handmade_graph import HandmadeGraph
from tests.support.svg_pictures import (
    GRAPHS,
    SVG,
    Rectangle,
    boxes,
    edges,
    ends,
    outlines,
    picture_size,
    read_svg,
    texts,
)

TITLE_SIZE, SMALL_SIZE = 12.0, 10.0
"""The sizes that the style sheet gives a box's first line, and its shape and value."""

LEAVES = ("input", "parameter")


class DrawnGraph(NamedTuple):
    """A graph and the root of its SVG."""

    graph: GradGraph
    svg: ElementTree.Element


@pytest.fixture(scope="module", params=sorted(GRAPHS))
def drawn(request: pytest.FixtureRequest) -> DrawnGraph:
    """Each graph with its ladder, read back."""
    graph = GRAPHS[request.param]()
    return DrawnGraph(graph, read_svg(draw(graph, format="svg", depth="all")))


@pytest.mark.slow
def test_every_node_and_every_edge_is_drawn(drawn: DrawnGraph) -> None:
    graph, svg = drawn
    assert lint(graph) == []
    assert set(boxes(svg)) == {node.id for node in graph.nodes}
    assert {ends(edge) for edge in edges(svg)} == {
        (edge.origin, edge.target) for edge in graph.edges
    }


def test_the_picture_holds_all_boxes_and_no_two_overlap(drawn: DrawnGraph) -> None:
    width, height = picture_size(drawn.svg)
    places = boxes(drawn.svg)
    for box in places.values():
        assert 0 < box.x < box.right < width
        assert 0 < box.y < box.bottom < height
    for (id_, box), (other_id, other) in combinations(places.items(), 2):
        assert not box.overlaps(other), (id_, other_id)


def test_every_text_lies_inside_its_box_without_touching_another(drawn: DrawnGraph) -> None:
    for box in boxes(drawn.svg).values():
        spans_by_line: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        for text in box.element.findall(f"{SVG}text"):
            # Where it begins and ends in the widest of its fonts.
            is_small = "s" in text.attrib["class"].split() or "quiet" in box.classes
            width = measure(text.text or "", SMALL_SIZE if is_small else TITLE_SIZE)
            before_x = {"end": width, "middle": width / 2}.get(text.get("text-anchor", ""), 0.0)
            left = float(text.attrib["x"]) - before_x
            right = left + width
            assert box.x + 4 <= left
            assert right <= box.right - 4
            assert box.y < float(text.attrib["y"]) < box.bottom
            spans_by_line[text.attrib["y"]].append((left, right))
        for spans in spans_by_line.values():
            for before, behind in pairwise(sorted(spans)):
                assert before[1] < behind[0]


def test_forward_runs_down_and_backward_runs_up(drawn: DrawnGraph) -> None:
    nodes, places = drawn.graph.by_id(), boxes(drawn.svg)
    for edge in drawn.graph.edges:
        origin, target = nodes[edge.origin], nodes[edge.target]
        is_within_a_lane = origin.phase == target.phase and origin.kind not in LEAVES
        if is_within_a_lane and target.kind != "output":
            runs_down = places[edge.origin].y < places[edge.target].y
            assert runs_down == (origin.phase == "forward"), (edge.origin, edge.target)


def test_columns_stand_in_order_leaves_forward_backward_gradients(drawn: DrawnGraph) -> None:
    places = boxes(drawn.svg)
    columns: list[list[Rectangle]] = [[], [], [], []]
    for node in drawn.graph.nodes:
        forward, backward = (1 - (node.kind in LEAVES)), 2 + (node.kind == "output")
        columns[forward if node.phase == "forward" else backward].append(places[node.id])
    for left, right in pairwise(columns):
        assert max(box.right for box in left) < min(box.x for box in right)


def test_each_backward_operator_is_level_with_its_forward_operator(drawn: DrawnGraph) -> None:
    """It is above the next forward operator below, and below the next one above."""
    nodes, places = drawn.graph.by_id(), boxes(drawn.svg)
    operators = [node for node in drawn.graph.nodes if node.kind == "op"]
    middles = {places[node.id].middle for node in operators if node.phase == "forward"}
    levels = [-math.inf, *sorted(middles), math.inf]
    for node in drawn.graph.nodes:
        if node.kind == "output" or node.forward is None or nodes[node.forward].kind != "op":
            continue
        index = levels.index(places[node.forward].middle)
        assert levels[index - 1] < places[node.id].middle < levels[index + 1], node.id


@pytest.mark.slow
def test_a_single_backward_operator_has_exactly_its_forward_operators_height() -> None:
    places = boxes(read_svg(draw(drawing_graphs.tiny(), format="svg")))
    assert places["n1"].y == places["n4"].y


@pytest.mark.slow
def test_saved_tensors_are_dashed_rungs() -> None:
    graph = drawing_graphs.convolution()
    svg = read_svg(draw(graph, format="svg"))
    rungs = {ends(edge) for edge in edges(svg) if "rung" in edge.attrib["class"].split()}
    assert {(edge.origin, edge.target) for edge in graph.edges if edge.kind == "saved"} <= rungs
    style = svg.findtext(f"{SVG}style") or ""
    assert re.search(r"\.wire\.rung\{stroke-dasharray", style)


def test_edges_keep_clear_of_boxes(drawn: DrawnGraph) -> None:
    """No straight piece of an edge passes through a box that is not one of its ends."""
    places = boxes(drawn.svg)
    for edge in edges(drawn.svg):
        others = [id_ for id_ in places if id_ not in ends(edge)]
        for piece in straight_pieces(edge.attrib["d"]):
            for id_ in others:
                x0, y0, x1, y1 = piece
                box = places[id_]
                across = min(x0, x1) < box.right - 1 and box.x + 1 < max(x0, x1) + 0.1
                along = min(y0, y1) < box.bottom - 1 and box.y + 1 < max(y0, y1) + 0.1
                assert not (across and along), (id_, ends(edge))


Piece = tuple[float, float, float, float]
"""The ends of a straight line: x and y of the first, x and y of the second."""


def straight_pieces(path: str) -> list[Piece]:
    """The straight pieces of an SVG path."""
    pieces = []
    x, y = 0.0, 0.0
    for letter, coordinates in re.findall(r"([MLCQ])([^MLCQ]*)", path):
        *_, end_x, end_y = map(float, coordinates.split())
        if letter == "L":
            pieces.append((x, y, end_x, end_y))
        x, y = end_x, end_y
    return pieces


@pytest.mark.slow
def test_branches_stand_side_by_side_under_their_conditions() -> None:
    graph = drawing_graphs.decided()
    svg = read_svg(draw(graph, format="svg"))
    labels = [label.removeprefix("if x.sum() > 0: ") for label in texts(svg, "label")]
    assert sorted(labels) == [
        "false branch",
        "false branch, backward",
        "true branch",
        "true branch, backward",
    ]
    groups = outlines(svg, "group")
    assert len(groups) == 4
    assert not any(group.overlaps(other) for group, other in combinations(groups, 2))
    places = boxes(svg)
    for node in graph.nodes:
        around = [group for group in groups if group.overlaps(places[node.id])]
        assert len(around) == bool(node.body), node.id


@pytest.mark.slow
def test_what_did_not_run_is_pale() -> None:
    graph = drawing_graphs.decided()
    svg = read_svg(draw(graph, format="svg"))
    places = boxes(svg)
    for node in graph.nodes:
        assert ("idle" in places[node.id].classes) == bool(node.missing)
    assert "did not run for this input" in texts(svg)


def test_an_empty_graph_and_lone_nodes_are_drawn() -> None:
    assert boxes(read_svg(draw(HandmadeGraph().record(), format="svg"))) == {}
    g = HandmadeGraph()
    g.leaf("x", "input")
    g.add("output", kind="output", phase="backward", name="dx")
    assert set(boxes(read_svg(draw(g.record(), format="svg")))) == {"n0", "n1"}
