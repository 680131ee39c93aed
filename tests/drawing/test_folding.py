"""Single modules opened and folded against the depth of a picture."""

from collections import Counter

import pytest

from explorer.drawing.folding import Folding
from explorer.drawing.formats import draw_shown
from explorer.drawing.marks import marks
from explorer.drawing.shown import Shown, show, show_folded
from explorer.drawing.structure import module_names
from tests.support.drawing_graphs import residual

NET = residual(2, width=2)
"""Two blocks of two products: ``blocks.0.linear0`` and so on."""


def modules_in_sight(shown: Shown) -> Counter[str]:
    """How often each module is one node; once in the forward and once in the backward."""
    return Counter(node.op for node in shown.graph.nodes if node.id in shown.modules and node.scope)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_without_single_modules_a_folding_is_a_depth(depth: int) -> None:
    assert show_folded(NET, Folding(depth)).graph == show(NET, depth).graph


@pytest.mark.slow
def test_a_module_that_is_opened_shows_the_modules_in_it_and_others_stay_folded() -> None:
    shown = show_folded(NET, Folding(2, opened=frozenset({"blocks.0"})))
    names = set(modules_in_sight(shown))
    assert "blocks.1" in names
    assert "blocks.0" not in names
    assert {"blocks.0.linear0", "blocks.0.linear1"} <= {
        node.scope for node in shown.graph.nodes if node.phase == "backward"
    }
    # A frame of the drawing names its module.
    drawing = draw_shown(shown, format="svg", marks=marks(shown, {})).decode()
    assert 'class="group" data-module="blocks.0"' in drawing
    assert "collapsed to depth 2" in drawing


def test_a_module_that_is_folded_is_one_node_where_the_depth_shows_every_operator() -> None:
    shown = show_folded(NET, Folding(None, folded=frozenset({"blocks.1"})))
    assert set(modules_in_sight(shown)) == {"blocks.1"}
    apart = {node.scope for node in shown.graph.nodes if node.id not in shown.modules}
    assert "blocks.0.linear0" in apart
    assert not [scope for scope in apart if scope.startswith("blocks.1.")]


def test_a_folded_module_hides_what_is_opened_in_it() -> None:
    folding = Folding(3, opened=frozenset({"blocks.0.linear0"}), folded=frozenset({"blocks.0"}))
    assert folding.module_of("blocks.0.linear0") == "blocks.0"
    assert folding.module_of("blocks.1.linear0") == "blocks.1.linear0"


def test_every_node_of_the_net_has_a_home_in_sight() -> None:
    assert {"blocks", "blocks.0", "blocks.1.linear1"} <= module_names(NET)
    for name in module_names(NET):
        shown = show_folded(NET, Folding(1, opened=frozenset({name, "blocks"})))
        in_sight = {node.id for node in shown.graph.nodes}
        assert set(shown.homes) == {node.id for node in NET.nodes}
        assert set(shown.homes.values()) == in_sight
