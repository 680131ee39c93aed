"""What is chosen in two graphs, when a box or the address chooses others."""

import pytest

from explorer.web.graphs_page import REVISION
from tests.support import graphs_app
from tests.support.pages import address, shown

pytestmark = pytest.mark.slow

PLACE = {"depth": "all", "left": "mindspore-graph", "right": "torch-tape"}
NODE = {"node": "left:n0", "step": "4"}


def test_a_box_that_chooses_other_graphs_forgets_node_and_step_and_tells_the_browser() -> None:
    page = shown(graphs_app.page, **PLACE, **NODE, only="differs")
    # A link opens with its node and its step.
    assert {**PLACE, **NODE}.items() <= address(page).items()
    # A box that draws the same graphs otherwise keeps them.
    page.selectbox(key="view").set_value("flow").run()
    assert {**NODE, "view": "flow"}.items() <= address(page).items()
    revision = page.session_state[REVISION]
    page.select_slider(key="left_stage").set_value("opt_a").run()
    assert address(page)["left_stage"] == "opt_a"
    assert not NODE.keys() & address(page).keys()
    assert address(page)["only"] == "differs"  # a filter means the same in any two graphs
    assert page.session_state[REVISION] > revision
    later = page.session_state[REVISION]
    page.run()
    assert page.session_state[REVISION] == later
    # An address that asks for other graphs brings its own node.
    for name, value in {**PLACE, **NODE, "left_stage": "validate"}.items():
        page.query_params[name] = value
    page.run()
    assert NODE.items() <= address(page).items()
    # Another engine has other graphs.
    page.selectbox(key="right").set_value("mindspore-graph").run()
    assert address(page)["right"] == "mindspore-graph"
    assert not NODE.keys() & address(page).keys()


def test_a_line_says_what_a_pass_has_changed() -> None:
    engines = dict.fromkeys(("left", "right"), "mindspore-graph")
    page = shown(graphs_app.page, depth="all", right_stage="opt_a", **engines)
    assert any("has new: 4 Transpose" in caption.value for caption in page.caption)
