"""How much is in sight: less depth shows less, and a large net opens collapsed."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import msgspec
import pytest

from explorer.drawing import draw
from explorer.drawing import pair as draw_pair
from explorer.drawing.folding import MOST_LOOSE, Folding
from explorer.drawing.shown import MOST_APART, MOST_NODES, show, show_both, show_folded
from explorer.drawing.structure import in_order
from explorer.model.graph import GradGraph
from tests.support import drawing_graphs
from tests.support.handmade_graph import HandmadeGraph
from tests.support.samples import some
from tests.support.svg_pictures import boxes, picture_size, read_svg, texts

GRAPHS: dict[str, Callable[[], GradGraph]] = {
    "convolution": drawing_graphs.convolution,
    "residual": lambda: drawing_graphs.residual(4),
    "bottlenecks": lambda: drawing_graphs.bottlenecks(3),
    "experts": lambda: drawing_graphs.experts(12),
    "unrolled": lambda: drawing_graphs.unrolled(6),
}
DEPTHS = (0, 1, 2, 3, "all")


@pytest.mark.slow
@pytest.mark.parametrize("name", some(GRAPHS, "convolution", "unrolled"))
def test_less_depth_shows_no_more_nodes_in_no_larger_a_picture(name: str) -> None:
    graph = GRAPHS[name]()
    pictures = [read_svg(draw(graph, format="svg", depth=depth)) for depth in DEPTHS]  # type: ignore[arg-type]  # mypy widens the tuple's literals
    counts = [len(boxes(svg)) for svg in pictures]
    assert counts == sorted(counts)
    areas = [picture_size(svg).area for svg in pictures]
    for smaller, larger in pairwise(areas):
        assert smaller <= 1.02 * larger  # a title or a legend may be a line longer


def test_what_is_merged_at_one_depth_stays_together_at_the_next() -> None:
    """At depth 1 the modules are on a cycle; merged anew, they would be split in five."""
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    early = g.add("exp", [x], scope="a.first")
    beside, behind = g.add("sin", [x], scope="b.only"), g.add("cos", [early], scope="b.only")
    g.add("neg", [beside], scope="a.last")
    g.add("abs", [behind], scope="a.last")
    graph = g.record()
    assert len(show(graph, 2).graph.nodes) == 4
    assert len(show(graph, 1).graph.nodes) == 4


def test_a_small_net_opens_whole_and_so_does_one_without_modules() -> None:
    shown = show(drawing_graphs.convolution(), "fit")
    assert shown.depth is None
    assert shown.graph == drawing_graphs.convolution()
    graph = drawing_graphs.chain(200)
    assert show(graph, "fit").graph is graph


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [5, pytest.param(50, marks=pytest.mark.whole)])
def test_a_large_net_opens_collapsed_and_says_so(blocks: int) -> None:
    graph = drawing_graphs.bottlenecks(blocks)
    shown = show(graph, "fit")
    assert len(shown.graph.nodes) <= MOST_NODES
    svg = read_svg(draw(graph, format="svg"))
    (said,) = [text for text in texts(svg) if "collapsed" in text]
    assert f"depth {shown.depth}" in said
    assert f"{len(shown.graph.nodes)} of {len(show(graph).graph.nodes)}" in said


def test_the_greatest_depth_that_fits_is_taken() -> None:
    graph = drawing_graphs.bottlenecks(5)
    shown = show(graph, "fit")
    assert shown.depth is not None
    assert len(show(graph, shown.depth + 1).graph.nodes) > MOST_NODES
    # A budget is kept to the node.
    graph = drawing_graphs.bottlenecks(2)
    whole = len(show(graph).graph.nodes)
    assert show(graph, "fit", whole).depth is None
    assert show(graph, "fit", whole - 1).depth is not None


@pytest.mark.slow
def test_two_graphs_in_one_picture_have_one_depth() -> None:
    small, large = drawing_graphs.bottlenecks(1), drawing_graphs.bottlenecks(5)
    depth = show(large, "fit").depth
    assert show(small, "fit").depth is None
    assert depth is not None
    for pair in ((small, large), (large, small)):
        assert [shown.depth for shown in show_both(*pair, "fit")] == [depth, depth]
        assert {shown.depth for shown in show_both(*pair, "all")} == {None}
    svg = read_svg(draw_pair(small, large))
    assert len([text for text in texts(svg) if f"collapsed to depth {depth}" in text]) == 2
    assert {shown.depth for shown in show_both(small, small, "fit")} == {None}


def test_json_has_every_node_unless_a_depth_is_asked_for_and_mermaid_is_collapsed() -> None:
    graph = drawing_graphs.bottlenecks(5)
    assert msgspec.json.decode(draw(graph, format="json"), type=GradGraph) == graph
    collapsed = msgspec.json.decode(draw(graph, format="json", depth=1), type=GradGraph)
    assert len(collapsed.nodes) < MOST_NODES
    assert draw(graph, format="mermaid").startswith(b"flowchart")


@pytest.mark.parametrize(("loose", "shown"), [(MOST_LOOSE, MOST_LOOSE), (MOST_LOOSE + 1, 1)])
def test_operators_outside_all_modules_stay_apart_while_there_are_few(
    loose: int, shown: int
) -> None:
    g = HandmadeGraph()
    last = g.add("mul", [g.leaf("x", "input")], scope="a")
    for _ in range(loose):
        last = g.add("exp", [last])
    nodes = show(g.record(), 1).graph.nodes
    assert len(nodes) == 2 + shown


def test_a_module_s_own_weight_stays_with_it_where_a_cycle_splits_others() -> None:
    g = HandmadeGraph()
    weight = g.leaf("a.b.weight")
    first = g.add("add", [g.leaf("x", "input")], scope="a")
    turned = g.add("t", [weight], scope="a.b")
    g.add("add", [first, g.add("mm", [first, turned], scope="a.b")], scope="a")
    graph = show(g.record(), 2).graph
    assert [node.op for node in graph.nodes] == ["parameter", "input", "add", "a.b", "add"]


LONG: dict[str, Callable[[], GradGraph]] = {
    "no modules": cache(lambda: drawing_graphs.chain(1000)),
    "modules in a row": cache(lambda: drawing_graphs.chain(1000, "block{index}")),
    "residual": cache(lambda: drawing_graphs.residual(150)),
    "unrolled": cache(lambda: drawing_graphs.unrolled(200)),
}
"""Nets of many nodes that merging modules leaves far too many of."""


@pytest.mark.slow
@pytest.mark.parametrize("name", some(LONG, "residual"))
def test_a_long_net_opens_in_stretches_that_follow_one_another_and_says_so(name: str) -> None:
    graph = LONG[name]()
    shown = show(graph, "fit")
    assert 20 < len(shown.graph.nodes) <= MOST_NODES
    links = [(edge.origin, edge.target) for edge in shown.graph.edges]
    assert len(list(in_order([node.id for node in shown.graph.nodes], links))) == len(links)
    members = [member for several in shown.members.values() for member in several]
    hidden = len(graph.nodes) - len(shown.graph.nodes)
    assert len(members) - len(shown.members) == hidden
    (said,) = [text for text in texts(read_svg(draw(graph, format="svg"))) if "stretches" in text]
    assert f"{len(shown.graph.nodes)} of {len(graph.nodes)}" in said


@pytest.mark.parametrize(("more", "has_stretches"), [(0, False), (2, True)])
def test_a_net_that_is_a_little_too_large_does_not_open_in_stretches(
    more: int, has_stretches: bool
) -> None:
    nodes = MOST_APART * MOST_NODES + more
    graph = drawing_graphs.chain(nodes - 1)
    assert len(graph.nodes) == nodes
    assert bool(show(graph, "fit").folding.stretches) is has_stretches


@pytest.mark.slow
def test_a_stretch_is_named_after_its_first_and_its_last_module() -> None:
    names = [node.op for node in show(LONG["modules in a row"](), "fit").graph.nodes]
    assert "block0 … block20" in names
    assert "20 operators" in {node.op for node in show(LONG["no modules"](), "fit").graph.nodes}
    assert "blocks.0 … 6" in {node.op for node in show(LONG["residual"](), "fit").graph.nodes}


def test_constants_that_a_long_backward_reads_go_into_its_stretches_and_the_seed_stays() -> None:
    g = HandmadeGraph()
    last = g.add("mul", [g.leaf("x", "input")])
    gradient = g.add("neg", [g.seed("constant")], phase="backward")
    for _ in range(300):
        last = g.add("exp", [last])
        zeros = g.add("constant", kind="constant", phase="backward")
        gradient = g.add("add", [gradient, zeros], phase="backward")
    shown = show(g.record(), "fit")
    assert len(shown.graph.nodes) <= MOST_NODES
    kept = [node.name for node in shown.graph.nodes if node.kind == "constant"]
    assert kept == ["seed"]


@pytest.mark.slow
def test_an_opened_module_stays_apart_from_its_stretch() -> None:
    graph = LONG["residual"]()
    whole = show_folded(graph, Folding(stretches=6))
    opened = show_folded(graph, Folding(stretches=6, opened=frozenset({"blocks.7"})))
    inside = [node.id for node in graph.nodes if node.scope.startswith("blocks.7.")]
    assert inside
    assert not whole.apart(inside)
    assert opened.apart(inside) == tuple(inside)
    links = [(edge.origin, edge.target) for edge in opened.graph.edges]
    assert len(list(in_order([node.id for node in opened.graph.nodes], links))) == len(links)


def test_two_graphs_are_both_in_stretches_or_none_is() -> None:
    small, large = drawing_graphs.chain(101), LONG["no modules"]()
    for pair in ((small, large), (large, small)):
        counts = {shown.folding.stretches for shown in show_both(*pair, "fit")}
        assert len(counts) == 1
        assert counts != {0}


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(5, 50), (50, 5)])
def test_of_two_graphs_at_one_depth_both_fit(blocks: tuple[int, int]) -> None:
    graphs = [drawing_graphs.bottlenecks(number) for number in blocks]
    depths = {show(graph, "fit").depth for graph in graphs}
    assert depths == {1, 2}  # alone each opens at another depth
    left, right = show_both(graphs[0], graphs[1], "fit")
    assert left.depth == right.depth
    assert max(len(left.graph.nodes), len(right.graph.nodes)) <= MOST_NODES
