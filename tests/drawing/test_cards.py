"""The texts of a node's box, and that they fit; the parameters of a merged module are one card."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.drawing.cards import card, cards, label_lines, short_name
from explorer.drawing.label_text import fit, fit_between, fit_name, measure
from explorer.drawing.marks import Mark, marks
from explorer.drawing.shown import show
from tests.support import drawing_graphs
from tests.support.handmade_graph import HandmadeGraph


def test_values_are_written_when_they_are_few_and_summed_up_when_they_are_many() -> None:
    g = HandmadeGraph()
    few = g.add("few", value=np.array([4.0, 6.0]))
    many = g.add("many", value=np.arange(100.0))
    shown = cards(g.record(), {})
    assert shown[few].value == "[4, 6]"
    assert shown[many].value == "‖·‖ 573"


@pytest.mark.parametrize(
    ("op", "role"),
    [
        ("aten.mul.Tensor", "forward"),
        ("aten._unsafe_view.default", "quiet"),
        ("TupleGetItem", "quiet"),
        ("Reshape", "quiet"),
    ],
)
def test_an_operator_that_only_moves_its_value_is_quiet(op: str, role: str) -> None:
    g = HandmadeGraph()
    node = g.add(op)
    assert cards(g.record(), {})[node].role == role


@pytest.mark.parametrize("op", ["aten.mul.Tensor", "prims::mul", "torch.ops.aten.mul.Tensor"])
def test_a_title_leaves_out_namespace_and_overload(op: str) -> None:
    assert short_name(op) == "mul"


def test_the_lines_of_a_label_have_number_title_and_shape_above_the_value() -> None:
    g = HandmadeGraph()
    node = g.add("mm", value=np.array([[20.0]]))
    lines = label_lines(cards(g.record(), {node: Mark(3)})[node], between=" ")
    assert lines == ["(3) mm 1×1", "[[20]]"]


DEEP = "model.encoder.layers.{}.attention.query.weight"


def test_names_that_end_apart_are_told_apart_when_they_are_cut() -> None:
    g = HandmadeGraph()
    ids = [g.leaf(DEEP.format(number)) for number in range(12)]
    titles = {card.title for card in cards(g.record(), {}).values()}
    assert len(titles) == len(ids)
    assert "…layers.3.attention.query.weight" in titles


def test_names_that_end_alike_show_where_they_begin() -> None:
    g = HandmadeGraph()
    for part in ("encoder", "decoder"):
        g.leaf(f"{part}.transformer.layers.0.attention.query.weight")
    titles = [card.title for card in cards(g.record(), {}).values()]
    assert len(set(titles)) == 2
    assert all("…" in title and title.endswith("query.weight") for title in titles)
    # A gradient whose name is cut is still one.
    g.gradient(f"d{DEEP.format(3)}", g.leaf(DEEP.format(3)))
    (gradient,) = [shown.title for shown in cards(g.record(), {}).values()][3:]
    assert gradient.startswith("d…")
    assert gradient.endswith("3.attention.query.weight")


@pytest.mark.slow
@settings(max_examples=50)
@given(text=st.text(max_size=60), width=st.integers(10, 120))
def test_what_is_cut_is_never_wider_than_its_room_and_what_fits_is_left_whole(
    text: str, width: int
) -> None:
    # An ellipsis alone takes a whole em: 12 points.
    assert measure(fit(text, 12, width), 12) <= max(width, 12)
    assert fit(text, 10, measure(text, 10)) == text
    if width >= 20:
        for fitted in (fit_name(text, 12, width), fit_between(text, 12, width)):
            assert measure(fitted, 12) <= width


def test_a_refuted_value_is_said_to_be_so() -> None:
    g = HandmadeGraph()
    node = msgspec.structs.replace(g.node(g.add("mul", value=np.array([2.0]))), proof="refuted")
    assert card(node).value == "refuted: [2]"
    assert "proof: refuted" in card(node).tooltip


def test_a_buffer_that_backward_has_changed_is_drawn_as_a_result_and_no_gradient() -> None:
    g = HandmadeGraph()
    weight = g.add("parameter", kind="parameter", name="weight")
    g.add("output", kind="output", phase="backward", name="dweight", forward=weight)
    g.add("output", kind="output", phase="backward", name="running_mean")
    roles = [drawn.role for drawn in cards(g.record(), {}).values()]
    assert roles == ["leaf", "gradient", "result"]


def test_a_merged_module_has_one_card_of_parameters_and_one_of_gradients() -> None:
    nodes = show(drawing_graphs.bottlenecks(2), 2).graph.nodes
    assert [node.name for node in nodes if node.kind == "parameter"] == ["9 parameters"] * 2
    results = [node.name for node in nodes if (node.kind, node.phase) == ("output", "backward")]
    assert results == ["9 gradients", "9 gradients", "dx"]


def test_a_card_of_parameters_names_their_module_and_them() -> None:
    shown = show(drawing_graphs.bottlenecks(1), 2)
    of_cards = cards(shown.graph, marks(shown, {}))
    (card,) = [card for card in of_cards.values() if card.title == "9 parameters"]
    assert card.value.startswith("layers.0: conv1.weight, bn1")
    assert sum("parameter layers.0" in line for line in card.tooltip) == 9


@pytest.mark.parametrize(("reader_scope", "names"), [("a", ["2 parameters"]), ("", ["v", "w"])])
def test_a_parameter_that_an_operator_in_sight_reads_stays_in_sight(
    reader_scope: str, names: list[str]
) -> None:
    g = HandmadeGraph()
    x, v, w = g.leaf("x", "input"), g.leaf("v"), g.leaf("w")
    first = g.add("mul", [g.add("mul", [x, v], scope="a"), w], scope="a")
    g.result("y", g.add("add", [first, v, w], scope=reader_scope))
    graph = show(g.record(), 1).graph
    assert [node.name for node in graph.nodes if node.kind == "parameter"] == names


def test_a_bias_and_the_weight_that_backward_reads_as_well_are_in_one_card() -> None:
    g = HandmadeGraph()
    x, w, b = g.leaf("x", "input"), g.leaf("fc.weight"), g.leaf("fc.bias")
    product = g.add("mm", [x, w], scope="fc")
    g.result("y", g.add("add", [product, b], scope="fc"))
    back = g.back("mm", product, [g.seed()], [w], scope="fc")
    g.gradient("dx", back)
    graph = show(g.record(), 1).graph
    assert [node.name for node in graph.nodes if node.kind == "parameter"] == ["2 parameters"]
