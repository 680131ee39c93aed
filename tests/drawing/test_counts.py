"""What a picture says of its nodes: how many there are, and how many values are kept for backward."""

import pytest

from explorer.drawing import draw
from explorer.model.graph import GradGraph
from tests.support.handmade_graph import HandmadeGraph
from tests.support.svg_pictures import read_svg, texts


def keeping(count: int) -> GradGraph:
    """A graph whose backward reads the values of so many operators."""
    g = HandmadeGraph()
    value = g.leaf("x", "input")
    made = []
    for _ in range(3):
        value = g.add("exp", [value])
        made.append(value)
    g.result("y", value)
    gradient = g.seed()
    for place, node in enumerate(reversed(made)):
        gradient = g.back("mul", node, [gradient], [node] if place < count else [])
    g.gradient("dx", gradient)
    return g.record()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "kept"),
    [
        (0, ""),
        (1, ", 1 value kept for backward"),
        (2, ", 2 values kept for backward"),
    ],
)
def test_a_picture_counts_its_nodes_and_what_is_kept(count: int, kept: str) -> None:
    said = "\n".join(texts(read_svg(draw(keeping(count), format="svg"))))
    assert f"5 forward, 5 backward nodes{kept}" in said
    assert ("kept for backward" in said.split("backward nodes")[1][:40]) is bool(count)
