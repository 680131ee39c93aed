"""Pair numbers of what is in sight, and the first divergence in every format that has a place for it."""

import pytest

from explorer.drawing import draw, pair
from explorer.drawing.formats import FormatName
from explorer.drawing.marks import own_numbers, shared_numbers
from explorer.drawing.shown import show
from explorer.drawing.style import LIGHT
from explorer.model.errors import UsageError
from tests.support import drawing_graphs
from tests.support.handmade_graph import HandmadeGraph
from tests.support.svg_pictures import boxes, read_svg, texts


@pytest.mark.slow
def test_the_first_divergence_is_marked_on_both_sides_by_more_than_a_colour() -> None:
    graph = drawing_graphs.dense_mse()
    svg = read_svg(pair(graph, graph, diverging=(["n6"], ["n7"])))
    marked = {id_ for id_, box in boxes(svg).items() if "diverges" in box.classes}
    assert marked == {"left-n6", "right-n7"}
    for id_, box in boxes(svg).items():
        signs = [child for child in box.element if child.get("class") == "unequal"]
        assert len(signs) == (id_ in marked)
    assert sum("first divergence" in text for text in texts(svg)) == 2
    # A picture without one does not speak of it.
    svg = read_svg(draw(graph, format="svg"))
    assert not any("divergence" in text for text in texts(svg))


@pytest.mark.slow
def test_a_merged_module_is_marked_for_a_divergence_inside_it() -> None:
    graph = drawing_graphs.bottlenecks(2)
    (inner,) = [node.id for node in graph.nodes if node.scope == "layers.1.conv2"][:1]
    svg = read_svg(draw(graph, format="svg", depth=2, diverging=[inner]))
    (marked,) = [box for box in boxes(svg).values() if "diverges" in box.classes]
    assert marked.element.attrib["data-op"] == "layers.1"


@pytest.mark.parametrize("file_format", ["dot", "mermaid"])
def test_a_format_of_text_has_the_sign(file_format: FormatName) -> None:
    graph = drawing_graphs.dense_mse()
    assert b"#8800;" not in draw(graph, format="mermaid")
    marked = draw(graph, format=file_format, diverging=["n6"]).decode()
    assert ("≠" in marked) or ("#8800;" in marked)


def test_in_dot_the_first_divergence_alone_has_the_colour_of_alarm() -> None:
    graph = drawing_graphs.dense_mse()
    alarm = LIGHT["alarm"]
    assert alarm not in draw(graph, format="dot").decode()
    lines = draw(graph, format="dot", diverging=["n6"]).decode().splitlines()
    (marked,) = [line for line in lines if alarm in line]
    assert marked.strip().startswith("n6 ")


@pytest.mark.slow
def test_two_graphs_are_one_png_as_wide_as_both() -> None:
    graph = drawing_graphs.tiny()
    one, two = draw(graph, format="png"), pair(graph, graph, format="png")
    assert two.startswith(b"\x89PNG\r\n")
    widths = [int.from_bytes(png[16:20], "big") for png in (one, two)]
    assert widths[1] > 2 * widths[0]
    with pytest.raises(UsageError, match="svg or png"):
        pair(graph, graph, format="mermaid")


def test_a_call_keeps_its_pair_number_and_a_module_has_none_of_its_own() -> None:
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    inner = g.add("exp", [g.add("mul", [x], scope="a")], scope="a")
    call = g.add("call", [inner], kind="call", name="if x > 0")
    shown = show(g.record(), 1)
    assert own_numbers(shown, {x: 1, inner: 2, call: 3}) == {x: 1, call: 3}


def test_modules_that_share_most_pairs_have_the_least_number_of_these() -> None:
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    ids = {}
    for scope in ("a", "b"):
        ids[scope] = [x := g.add("mul", [x], scope=scope) for _ in range(3)]
    shown = show(g.record(), 1)
    left = dict(zip([*ids["a"], *ids["b"]], range(1, 7), strict=True))
    # One of the pairs leads from the first module to the second.
    right = {**left, ids["a"][2]: 4, ids["b"][0]: 3}
    of_left, of_right = shared_numbers(shown, shown, (left, right))
    assert of_left == of_right == {ids["a"][0]: 1, ids["b"][0]: 5}


def test_of_modules_that_share_as_many_numbers_the_first_two_are_a_pair() -> None:
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    ids = []
    for scope in "abcdef":
        ids += [x := g.add("mul", [x], scope=scope) for _ in range(2)]
    shown = show(g.record(), 1)
    one_number = dict.fromkeys(ids, 1)
    # By the order in sets of ids, any two of the modules could be the pair.
    of_left, of_right = shared_numbers(shown, shown, (one_number, one_number))
    assert of_left == of_right == {ids[0]: 1}


def test_a_module_has_no_number_of_an_operator_that_stands_for_itself() -> None:
    g = HandmadeGraph()
    call = g.add("call", [g.leaf("x", "input")], kind="call", name="if x > 0")
    step = g.add("mul", [call], scope="a")
    last = g.add("exp", [step], scope="a")
    shown = show(g.record(), 1)
    # A step inside an op of the other side has the number of that op's pair.
    numbers = {call: 1, step: 1, last: 2}
    of_left, of_right = shared_numbers(shown, shown, (numbers, numbers))
    assert of_left == of_right == {call: 1, step: 2}
