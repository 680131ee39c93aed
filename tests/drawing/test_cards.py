"""The texts of a node's box, and that they fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.drawing.cards import cards, label_lines, short_name
from explorer.drawing.label_text import fit, measure
from explorer.drawing.marks import Mark
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


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=60), width=st.integers(10, 120))
def test_fitted_text_is_never_wider_than_its_room(text: str, width: int) -> None:
    # An ellipsis alone takes a whole em: 12 points.
    assert measure(fit(text, 12, width), 12) <= max(width, 12)


@given(text=st.text(max_size=20))
def test_text_that_fits_is_left_whole(text: str) -> None:
    assert fit(text, 10, measure(text, 10)) == text
