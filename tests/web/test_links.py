"""What a page shows stands in its address, and the way back leads to what an address says."""

import pytest

from tests.support.pages import address, opened

pytestmark = pytest.mark.slow


def two_places() -> None:
    import streamlit as st

    from explorer.web.links import follow, remember, turn_to

    turn_to(st.session_state.get("page to show", "one"))
    for place, name in (("above", "scenario"), ("below", "case")):
        wanted = follow(place, (name,))
        options = ["first", "second", "third"]
        chosen = st.selectbox(name, options, options.index(wanted.get(name, "first")), key=name)
        remember(place, {name: chosen if chosen != "first" else ""})


def test_two_places_of_a_page_keep_their_own_parts_of_the_address() -> None:
    page = opened(two_places, scenario="second", other="stays")
    page.selectbox(key="case").set_value("third").run()
    assert address(page) == {"scenario": "second", "other": "stays", "case": "third"}
    page.selectbox(key="scenario").set_value("first").run()
    assert address(page) == {"other": "stays", "case": "third"}
    # The way back to an address without a name is to what the page opens with.
    page.query_params.clear()
    page.run()
    assert page.selectbox(key="case").value == "first"
    assert address(page) == {}


def test_a_page_that_is_opened_in_the_app_shows_what_it_showed_last() -> None:
    page = opened(two_places, case="second")
    # Opened by its name, a page has an empty address.
    page.session_state["page to show"] = "another"
    page.query_params.clear()
    page.run()
    assert page.selectbox(key="case").value == "second"
    assert address(page) == {"case": "second"}


def box_within_a_box() -> None:
    import streamlit as st

    from explorer.web.links import follow, remember, turn_to

    turn_to("one")
    wanted = follow("place", ("view", "depth"))
    shown = {}
    for name, options in (("view", ["ladder", "flow"]), ("depth", ["fit", "all"])):
        chosen = st.selectbox(name, options, options.index(wanted.get(name, options[0])), key=name)
        shown[name] = chosen if chosen != options[0] else ""
        if chosen == "ladder":
            break  # a ladder has no depth
    remember("place", shown)


def test_a_name_that_a_page_shows_no_longer_leaves_the_address() -> None:
    page = opened(box_within_a_box, view="flow", depth="all", other="stays")
    assert address(page) == {"view": "flow", "depth": "all", "other": "stays"}
    page.selectbox(key="view").set_value("ladder").run()
    assert address(page) == {"other": "stays"}
