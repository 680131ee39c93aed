"""Drawings of gradient graphs, tested as data: what stands where, what is said, and that nothing
overlaps or leaks.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest

from explorer.drawing import FORMATS, draw, pair
from explorer.drawing.cards import cards
from explorer.drawing.layout import Request, arrange
from explorer.drawing.text import fit, measure
from explorer.engines.capture.lint import lint
from explorer.model.errors import UsageError
from explorer.model.graph import GradGraph, Output
from tests import drawing_graphs
from tests.drawing_graphs import Build

SVG = "{http://www.w3.org/2000/svg}"
GRAPHS: dict[str, Callable[[], GradGraph]] = {
    "tiny": drawing_graphs.tiny,
    "dense_mse": drawing_graphs.dense_mse,
    "convolution": drawing_graphs.convolution,
    "branches": drawing_graphs.branches,
    "decided": drawing_graphs.decided,
    "tied": drawing_graphs.tied,
    "residual": lambda: drawing_graphs.residual(3),
    "shared": lambda: drawing_graphs.shared(100),
}
HOSTILE = "<script>alert('x')</script> & \" ]]> \x00\x07\ud800\uffff\u202e {x} javascript:"


class Drawn(NamedTuple):
    """A box read back from an SVG."""

    x: float
    y: float
    width: float
    height: float
    element: ElementTree.Element


def read(svg: bytes) -> ElementTree.Element:
    """The root of an SVG."""
    return ElementTree.fromstring(svg)


def boxes(root: ElementTree.Element) -> dict[str, Drawn]:
    """Every node's box, keyed by the id of its group."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        if "node" in group.get("class", "").split():
            rect = group.find(f"{SVG}rect")
            assert rect is not None
            x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
            found[group.attrib["id"]] = Drawn(x, y, width, height, group)
    return found


def overlapping(one: Drawn, other: Drawn) -> bool:
    """Whether two boxes share a point."""
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    return not (beside or one.y + one.height <= other.y or other.y + other.height <= one.y)


def font_size(text: ElementTree.Element, group: ElementTree.Element) -> float:
    """The size that the style sheet gives a node's text."""
    names = text.attrib["class"].split()
    return 10.0 if "s" in names or "quiet" in group.attrib["class"].split() else 12.0


@pytest.fixture(scope="module", params=sorted(GRAPHS))
def drawn(request: pytest.FixtureRequest) -> tuple[GradGraph, ElementTree.Element]:
    """Each graph with its ladder, read back."""
    graph = GRAPHS[request.param]()
    return graph, read(draw(graph, format="svg"))


Pair = tuple[GradGraph, ElementTree.Element]


def test_every_node_and_every_edge_is_drawn(drawn: Pair) -> None:
    graph, root = drawn
    assert lint(graph) == []
    assert set(boxes(root)) == {node.id for node in graph.nodes}
    wires = {
        (path.get("data-from"), path.get("data-to"))
        for path in root.iter(f"{SVG}path")
        if path.get("data-from")
    }
    assert wires == {(edge.origin, edge.target) for edge in graph.edges}


def test_no_two_boxes_overlap(drawn: Pair) -> None:
    assert [
        (a, b)
        for (a, one), (b, other) in combinations(boxes(drawn[1]).items(), 2)
        if overlapping(one, other)
    ] == []


def test_every_text_lies_inside_its_box_without_touching_another(drawn: Pair) -> None:
    for box in boxes(drawn[1]).values():
        spans: dict[str, list[tuple[float, float]]] = {}
        for text in box.element.findall(f"{SVG}text"):
            width, x = (
                measure(text.text or "", font_size(text, box.element)),
                float(text.attrib["x"]),
            )
            left = x - {"end": width, "middle": width / 2}.get(text.get("text-anchor", ""), 0)
            assert box.x + 4 <= left
            assert left + width <= box.x + box.width - 4
            assert box.y < float(text.attrib["y"]) < box.y + box.height
            spans.setdefault(text.attrib["y"], []).append((left, left + width))
        assert all(a[1] < b[0] for line in spans.values() for a, b in combinations(sorted(line), 2))


def test_the_picture_holds_all_boxes(drawn: Pair) -> None:
    width, height = (float(drawn[1].attrib[key]) for key in ("width", "height"))
    for box in boxes(drawn[1]).values():
        assert box.x > 0
        assert box.y > 0
        assert box.x + box.width < width
        assert box.y + box.height < height


def test_forward_runs_down_and_backward_runs_up(drawn: Pair) -> None:
    graph, root = drawn
    nodes, places = graph.by_id(), boxes(root)
    for edge in graph.edges:
        origin, target = nodes[edge.origin], nodes[edge.target]
        if (
            origin.kind in ("input", "parameter")
            or target.kind == "output"
            or origin.phase != target.phase
        ):
            continue
        one, other = places[edge.origin], places[edge.target]
        assert (one.y < other.y) == (origin.phase == "forward"), (edge.origin, edge.target)


def test_lanes_stand_in_order_leaves_forward_backward_gradients(drawn: Pair) -> None:
    graph, root = drawn
    places = boxes(root)
    lanes: list[list[Drawn]] = [[], [], [], []]
    for node in graph.nodes:
        leaf, gradient = node.kind in ("input", "parameter"), node.kind == "output"
        lanes[(0 if leaf else 1) if node.phase == "forward" else (3 if gradient else 2)].append(
            places[node.id]
        )
    for left, right in pairwise(lanes):
        assert max(box.x + box.width for box in left) < min(box.x for box in right)


def test_each_backward_operator_is_level_with_its_forward_operator(drawn: Pair) -> None:
    """A backward operator is nearer to its own forward operator's height than to that of one on
    another level, or as near.
    """
    graph, root = drawn
    nodes, places = graph.by_id(), boxes(root)
    heights = {node.id: places[node.id].y + places[node.id].height / 2 for node in graph.nodes}
    level = sorted(
        {heights[node.id] for node in graph.nodes if node.phase == "forward" and node.kind == "op"}
    )
    for node in graph.nodes:
        if node.forward is None or nodes[node.forward].kind != "op" or node.kind == "output":
            continue
        own = heights[node.forward]
        above = max((y for y in level if y < own), default=float("-inf"))
        below = min((y for y in level if y > own), default=float("inf"))
        assert above < heights[node.id] < below, node.id


def test_a_single_backward_operator_has_exactly_its_forward_operators_height() -> None:
    places = boxes(read(draw(drawing_graphs.tiny(), format="svg")))
    assert places["n1"].y == places["n4"].y


def test_saved_tensors_are_dashed_rungs() -> None:
    graph = drawing_graphs.convolution()
    root = read(draw(graph, format="svg"))
    rungs = {
        (p.get("data-from"), p.get("data-to"))
        for p in root.iter(f"{SVG}path")
        if "rung" in p.get("class", "").split()
    }
    assert {(edge.origin, edge.target) for edge in graph.edges if edge.kind == "saved"} <= rungs
    style = root.find(f"{SVG}style")
    assert style is not None
    assert re.search(r"\.wire\.rung\{stroke-dasharray", style.text or "")


def test_edges_keep_clear_of_boxes(drawn: Pair) -> None:
    """No straight piece of an edge passes through a box that is not one of its ends."""
    places = boxes(drawn[1])
    for path in (path for path in drawn[1].iter(f"{SVG}path") if path.get("data-from")):
        ends = (path.get("data-from"), path.get("data-to"))
        for x0, y0, x1, y1 in _lines(path.attrib["d"]):
            for id_, box in places.items():
                across = min(x0, x1) < box.x + box.width - 1 and box.x + 1 < max(x0, x1) + 0.1
                along = min(y0, y1) < box.y + box.height - 1 and box.y + 1 < max(y0, y1) + 0.1
                assert id_ in ends or not (across and along), (id_, ends)


def _lines(path: str) -> list[tuple[float, float, float, float]]:
    """The straight pieces of an SVG path."""
    found, x, y = [], 0.0, 0.0
    for letter, numbers in re.findall(r"([MLCQ])([^MLCQ]*)", path):
        values = [float(number) for number in numbers.split()]
        if letter == "L":
            found.append((x, y, *values[-2:]))
        x, y = values[-2:]
    return found  # type: ignore[return-value]  # each piece has four numbers


def test_gradients_accumulated_and_values_not_finite_are_told_apart() -> None:
    root = read(draw(drawing_graphs.convolution(), format="svg"))
    classes = {
        group.attrib["id"]: group.attrib["class"].split()
        for group in root.iter(f"{SVG}g")
        if group.get("id")
    }
    by_op = {
        group.get("data-op"): classes[group.attrib["id"]]
        for group in root.iter(f"{SVG}g")
        if group.get("id")
    }
    assert "accumulate" in by_op["AddN"]
    assert "alarm" in by_op["Conv2DBackpropFilter"]
    assert "alarm" not in by_op["Conv2DBackpropInput"]
    assert "quiet" in by_op["Reshape"]
    assert "108 of 108 not finite" in "".join(root.itertext())


def test_pair_numbers_stand_on_both_pictures() -> None:
    graph = drawing_graphs.tiny()
    root = read(pair(graph, graph, numbers=({"n1": 7}, {"n1": 7}), titles=("one", "other")))
    places = boxes(root)
    assert {id_ for id_ in places if places[id_].element.get("data-pair") == "7"} == {
        "left-n1",
        "right-n1",
    }
    ids = [element.attrib["id"] for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_pair_numbers_survive_collapsing_where_a_node_stays_itself() -> None:
    root = read(
        draw(drawing_graphs.convolution(), format="svg", depth=1, numbers={"n0": 1, "n17": 2})
    )
    assert [
        box.element.get("data-op") for box in boxes(root).values() if box.element.get("data-pair")
    ] == ["input"]


def test_hostile_names_stay_text() -> None:
    b = Build()
    x = b.leaf(HOSTILE, "input")
    y = b.add(HOSTILE, [x], scope=HOSTILE)
    b.gradient(HOSTILE, b.back(HOSTILE, y, [], [y], scope=HOSTILE))
    graph = msgspec.structs.replace(b.graph(HOSTILE), engine=HOSTILE, stage=HOSTILE)
    svg = draw(graph, format="svg", numbers={"n0": 1})
    root = read(svg)
    assert not [
        element
        for element in root.iter()
        if element.tag.rpartition("}")[2] in ("script", "a", "image", "foreignObject", "use")
    ]
    assert not [
        name
        for element in root.iter()
        for name in element.attrib
        if name.startswith("on") or name.endswith("href")
    ]
    assert "<script>alert('x')</script>" in "".join(root.itertext())
    assert b"http" not in svg.replace(b'xmlns="http://www.w3.org/2000/svg"', b"")
    assert b"<script" not in draw(graph, format="mermaid")
    assert rb"\<" not in draw(graph, format="dot")
    assert draw(graph, format="png").startswith(b"\x89PNG")


def test_dot_takes_no_label_for_html_or_a_port() -> None:
    b = Build()
    b.add("<b>bold</b>", [b.leaf("Default/fc:bias")])
    text = draw(b.graph(), format="dot").decode()
    assert '"<b>bold</b>' in text
    assert "label=<" not in text
    assert "n0 -> n1" in text


@pytest.mark.parametrize(
    ("format_", "view"), [*((name, "ladder") for name in sorted(FORMATS)), ("svg", "flow")]
)
def test_the_same_graph_gives_the_same_bytes(format_: str, view: str) -> None:
    first, second = (draw(drawing_graphs.branches(), format=format_, view=view) for _ in range(2))  # type: ignore[arg-type]
    assert first == second


def test_branches_stand_side_by_side_under_their_conditions_and_what_did_not_run_is_pale() -> None:
    graph = drawing_graphs.decided()
    root = read(draw(graph, format="svg"))
    places, labels = (
        boxes(root),
        [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "label"],
    )
    ends = ("true branch", "false branch", "true branch, backward", "false branch, backward")
    assert sorted((label or "").removeprefix("if x.sum() > 0: ") for label in labels) == sorted(
        ends
    )
    groups = [
        rect
        for group in root.iter(f"{SVG}g")
        if group.get("class") == "group"
        for rect in group.findall(f"{SVG}rect")
    ]
    spans = [
        Drawn(
            float(rect.attrib["x"]),
            float(rect.attrib["y"]),
            float(rect.attrib["width"]),
            float(rect.attrib["height"]),
            rect,
        )
        for rect in groups
    ]
    assert len(spans) == 4
    assert not any(overlapping(one, other) for one, other in combinations(spans, 2))
    for node in graph.nodes:
        inside = [span for span in spans if overlapping(span, places[node.id])]
        assert len(inside) == bool(node.body), node.id
        assert ("idle" in places[node.id].element.attrib["class"].split()) == bool(node.missing)
    assert "did not run for this input" in {text.text for text in root.iter(f"{SVG}text")}


def test_a_stage_without_values_says_so_once_in_its_legend() -> None:
    def said(graph: GradGraph) -> int:
        return sum(
            "there are no values" in (text.text or "")
            for text in read(draw(graph, format="svg")).iter(f"{SVG}text")
        )

    known = drawing_graphs.decided()
    bare = tuple(
        msgspec.structs.replace(node, outputs=tuple(Output(o.shape, o.dtype) for o in node.outputs))
        for node in known.nodes
    )
    assert said(known) == 0
    assert said(msgspec.structs.replace(known, nodes=bare)) == 1


def test_in_a_flow_a_result_stands_just_below_what_makes_it() -> None:
    graph = drawing_graphs.convolution()
    places = boxes(read(draw(graph, format="svg", view="flow")))
    nodes = graph.by_id()
    for edge in graph.edges:
        if nodes[edge.target].kind == "output":
            maker, result = places[edge.origin], places[edge.target]
            assert 0 < result.y - maker.y < 150


def test_hash_order_does_not_reach_the_bytes() -> None:
    program = (
        "import sys; from tests.drawing_graphs import convolution; from explorer.drawing import draw;"
        "sys.stdout.buffer.write(draw(convolution(), format='svg', depth=1) + draw(convolution(), format='svg'))"
    )
    made = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "12"
    ]
    assert made[0] == made[1]


def test_the_svg_is_described_and_named() -> None:
    root = read(draw(drawing_graphs.dense_mse(), format="svg", title="dense & mse", prefix="a-"))
    assert root.get("role") == "img"
    assert [root.findtext(f"{SVG}{tag}") for tag in ("title",)] == ["dense & mse"]
    assert "9 backward nodes" in (root.findtext(f"{SVG}desc") or "")
    named = {element.get("id") for element in root if element.get("id")}
    assert set(root.attrib["aria-labelledby"].split()) <= named
    tooltip = boxes(root)["a-n4"].element.findtext(f"{SVG}title") or ""
    assert all(
        part in tooltip for part in ("mm", "scope: fc", "source: net.py:12", "float32", "[[20]]")
    )


def test_a_prefix_that_is_no_name_is_refused() -> None:
    with pytest.raises(UsageError, match="prefix"):
        draw(drawing_graphs.tiny(), format="svg", prefix='"><')


def test_a_layout_that_runs_out_of_time_is_replaced_and_the_picture_says_so() -> None:
    root = read(draw(drawing_graphs.convolution(), format="svg", timeout=0.001))
    assert "Simple layout: Graphviz took longer than 0.001 s." in (
        root.findtext(f"{SVG}desc") or ""
    )
    assert [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "note"] == [
        "Simple layout: Graphviz took longer than 0.001 s."
    ]
    assert not [
        1 for one, other in combinations(boxes(root).values(), 2) if overlapping(one, other)
    ]


def test_a_layout_process_that_fails_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert (
        arrange(Request({"n0": (50, 20)}, []), 10).instead
        == "Simple layout: Graphviz ended with status 1."
    )


def test_a_graph_too_large_for_graphviz_is_drawn_without_it() -> None:
    root = read(draw(drawing_graphs.chain(4000), format="svg"))
    assert len(boxes(root)) == 4000
    assert "more than the 1500" in (root.findtext(f"{SVG}desc") or "")


def test_the_flow_view_draws_all_nodes_without_overlap() -> None:
    for build in (drawing_graphs.convolution, drawing_graphs.branches):
        places = boxes(read(draw(build(), format="svg", view="flow")))
        assert len(places) == len(build().nodes)
        assert not [1 for one, other in combinations(places.values(), 2) if overlapping(one, other)]


def test_every_format_is_what_it_says() -> None:
    graph = drawing_graphs.dense_mse()
    assert draw(graph, format="png").startswith(b"\x89PNG\r\n")
    assert draw(graph, format="mermaid").startswith(b"flowchart TB\n")
    assert draw(graph, format="dot").startswith(b"digraph")
    assert msgspec.json.decode(draw(graph, format="json"), type=GradGraph) == graph
    assert {name: made.ending for name, made in FORMATS.items()} == {
        "svg": ".svg", "png": ".png", "dot": ".dot", "mermaid": ".mmd", "json": ".json",
    }  # fmt: skip


def test_dot_can_be_read_by_graphviz() -> None:
    pygraphviz = pytest.importorskip("pygraphviz")
    graph = drawing_graphs.convolution()
    read_back = pygraphviz.AGraph(string=draw(graph, format="dot").decode())
    assert set(read_back.nodes()) == {node.id for node in graph.nodes}


def test_mermaid_refuses_what_nobody_could_read() -> None:
    with pytest.raises(UsageError, match="at most 60"):
        draw(drawing_graphs.chain(100), format="mermaid")


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="svg, png, dot, mermaid, json"):
        draw(drawing_graphs.tiny(), format="pdf")  # type: ignore[arg-type]  # the mistake under test


def test_an_empty_graph_and_lone_nodes_are_drawn() -> None:
    assert boxes(read(draw(Build().graph(), format="svg"))) == {}
    b = Build()
    b.leaf("x", "input")
    b.add("output", kind="output", phase="backward", name="dx")
    assert set(boxes(read(draw(b.graph(), format="svg")))) == {"n0", "n1"}


def test_values_are_written_when_they_are_few_and_summed_up_when_they_are_many() -> None:
    b = Build()
    b.add("few", value=np.array([4.0, 6.0]))
    b.add("many", value=np.arange(100.0))
    shown = cards(b.graph(), {})
    assert (shown["n0"].value, shown["n1"].value) == ("[4, 6]", "‖·‖ 573")


def test_fitted_text_is_never_wider_than_asked() -> None:
    for width in range(10, 120, 7):
        assert measure(fit("Conv2DBackpropFilter 漢字 ‖", 12, width), 12) <= max(width, 12)
