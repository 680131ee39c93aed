"""What is chosen in two graphs, to the address and back."""

import pytest

from explorer.web.pair_view import ViewState, _chosen, address_of, state_of

MODULES = ("a", "a.b", "c")


def test_a_state_comes_back_from_its_address() -> None:
    state = ViewState(3, "right:n5", 12, "unpaired", False, ("a", "a.b"), ("c",))
    assert state_of(address_of(state), 3, MODULES) == state


def test_what_a_page_opens_with_is_left_out_of_the_address() -> None:
    assert set(address_of(ViewState()).values()) == {""}
    assert state_of({}, 0, MODULES) == ViewState()


def test_step_zero_is_a_step_and_no_step_is_none() -> None:
    assert address_of(ViewState(step=0))["step"] == "0"
    assert state_of({"step": "0"}, 0, ()).step == 0


@pytest.mark.parametrize(
    "wanted",
    [{"step": "-1"}, {"step": "x"}, {"step": "9" * 30}, {"only": "<b>"}, {"opened": "none,such"}],
)
def test_what_an_address_cannot_mean_is_left_out(wanted: dict[str, str]) -> None:
    assert state_of(wanted, 0, MODULES) == ViewState()


@pytest.mark.parametrize("view", [None, {}, {"node": 5}, {"only": "all"}, {"step": "3"}, 7])
def test_what_the_browser_says_amiss_changes_nothing(view: object) -> None:
    state = ViewState(1, "left:n1")
    assert _chosen(view, state) == state


def test_the_browser_s_last_word_counts_unless_the_address_has_changed_since() -> None:
    told = {"revision": 2, "node": "left:n7", "step": None, "only": "", "follow": True}
    assert _chosen(told, ViewState(2)).node == "left:n7"
    assert _chosen(told, ViewState(3, "left:n1")).node == "left:n1"
