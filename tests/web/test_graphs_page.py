"""What is chosen in two graphs, when a box or the address chooses others."""

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web.graphs_page import REVISION
from tests.support.pages import address, opened

pytestmark = pytest.mark.slow

PLACE = {"depth": "all", "left": "mindspore-graph", "right": "torch-tape"}
NODE = {"node": "left:n0", "step": "4"}


def page_of_graphs() -> None:
    from tests.support.graphs_app import page

    page()


def first_stage(page: AppTest) -> None:
    page.select_slider(key="left_stage").set_value("opt_a").run()
    assert address(page)["left_stage"] == "opt_a"


def test_a_link_opens_with_its_node_and_its_step() -> None:
    page = opened(page_of_graphs, **PLACE, **NODE)
    assert {**PLACE, **NODE}.items() <= address(page).items()


def test_a_box_that_chooses_other_graphs_forgets_node_and_step_and_tells_the_browser() -> None:
    page = opened(page_of_graphs, **PLACE, **NODE, only="differs")
    revision = page.session_state[REVISION]
    first_stage(page)
    assert not NODE.keys() & address(page).keys()
    assert address(page)["only"] == "differs"  # a filter means the same in any two graphs
    assert page.session_state[REVISION] > revision
    later = page.session_state[REVISION]
    page.run()
    assert page.session_state[REVISION] == later


def test_a_box_that_draws_the_same_graphs_otherwise_keeps_node_and_step() -> None:
    page = opened(page_of_graphs, **PLACE, **NODE)
    page.selectbox(key="view").set_value("flow").run()
    assert {**NODE, "view": "flow"}.items() <= address(page).items()


def test_an_address_that_asks_for_other_graphs_brings_its_own_node() -> None:
    page = opened(page_of_graphs, **PLACE, **NODE)
    first_stage(page)
    for name, value in {**PLACE, **NODE, "left_stage": "validate"}.items():
        page.query_params[name] = value
    page.run()
    assert NODE.items() <= address(page).items()
