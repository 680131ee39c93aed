"""Running statistics stand in the box of the operator that moves them."""

import pytest

from explorer.drawing import draw
from explorer.drawing.cards import cards
from explorer.drawing.marks import marks
from explorer.drawing.shown import show
from tests.support.drawing_graphs import bottlenecks
from tests.support.handmade_graph import HandmadeGraph
from tests.support.svg_pictures import picture_size, read_svg


def batch_norm() -> tuple[HandmadeGraph, dict[str, str]]:
    """A batch norm in training mode, and the ids of its nodes by what they are."""
    g = HandmadeGraph()
    x = g.leaf("x", "input")
    ids = {name: g.leaf(f"bn.{name}") for name in ("running_mean", "running_var", "batches")}
    ids["count"] = g.add("add_", [ids["batches"]], scope="bn")
    reads = [x, ids["running_mean"], ids["running_var"]]
    ids["norm"] = g.add("native_batch_norm", reads, scope="bn")
    g.result("y", ids["norm"])
    for name in ("running_mean", "running_var"):
        ids[f"new {name}"] = g.result(f"bn.{name}", ids["norm"])
    return g, ids


def test_statistics_are_shown_by_the_operator_that_moves_them() -> None:
    g, ids = batch_norm()
    shown = show(g.record())
    for name, node in ids.items():
        assert shown.homes[node] == ids["norm"], name
    assert [node.op for node in shown.graph.nodes] == ["input", "native_batch_norm", "output"]
    # The box says which statistics it moves.
    card = cards(shown.graph, marks(shown, {}))[ids["norm"]]
    assert card.moves == "moves running_mean, running_var"
    assert any("batches" in line for line in card.tooltip)


def test_a_statistic_that_another_operator_reads_stays_in_sight() -> None:
    g, ids = batch_norm()
    g.add("exp", [ids["running_mean"]])
    shown = show(g.record())
    assert shown.homes[ids["running_mean"]] == ids["running_mean"]
    assert shown.homes[ids["running_var"]] == ids["norm"]


def test_statistics_that_are_read_and_not_moved_stay_in_sight() -> None:
    g = HandmadeGraph()
    x, mean = g.leaf("x", "input"), g.leaf("bn.running_mean")
    g.result("y", g.add("native_batch_norm", [x, mean], scope="bn"))
    # Nor is an output of the net in another box that has a parameter's value.
    g.result("w", g.leaf("w"))
    graph = g.record()
    assert show(graph).graph is graph


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [4, pytest.param(50, marks=pytest.mark.whole)])
def test_a_net_in_training_mode_is_no_wider_than_its_widest_block(blocks: int) -> None:
    svg = read_svg(draw(bottlenecks(blocks), format="svg", depth="all"))
    assert picture_size(svg).width < 2000


def test_a_state_that_is_moved_alone_has_its_name() -> None:
    g = HandmadeGraph()
    x, mean = g.leaf("x", "input"), g.leaf("bn.running_mean")
    norm = g.add("native_batch_norm", [x, mean], scope="bn")
    g.result("y", norm)
    g.result("bn.running_mean", norm)
    shown = show(g.record())
    assert cards(shown.graph, marks(shown, {}))[norm].moves == "moves running_mean"
