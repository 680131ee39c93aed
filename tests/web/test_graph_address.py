"""What is chosen in two graphs, to the address and back, and what the browser says is chosen."""

from typing import Any

import pytest

from explorer.web.pair_view import ViewState, _chosen, address_of, state_of

MODULES = ("a", "a.b", "c")

SENT = ViewState(revision=3, node="left:n1")


def test_a_state_comes_back_from_its_address() -> None:
    state = ViewState(3, "right:n5", 12, "unpaired", False, ("a", "a.b"), ("c",))
    assert state_of(address_of(state), 3, MODULES) == state
    # Step zero is a step, and no step is none.
    assert address_of(ViewState(step=0))["step"] == "0"
    assert state_of({"step": "0"}, 0, ()).step == 0


def test_what_a_page_opens_with_is_left_out_of_the_address() -> None:
    assert set(address_of(ViewState()).values()) == {""}
    assert state_of({}, 0, MODULES) == ViewState()


@pytest.mark.parametrize(
    "wanted",
    [{"step": "-1"}, {"step": "x"}, {"step": "9" * 30}, {"only": "<b>"}, {"opened": "none,such"}],
)
def test_what_an_address_cannot_mean_is_left_out(wanted: dict[str, str]) -> None:
    assert state_of(wanted, 0, MODULES) == ViewState()


def test_a_choice_at_the_revision_that_was_sent_counts() -> None:
    told = {"revision": 3, "node": "right:n5", "step": None, "only": "", "follow": True}
    assert _chosen(told, SENT).node == "right:n5"


@pytest.mark.parametrize(
    "view",
    [
        None,
        {},
        {"node": 5},
        {"step": "3"},
        {"revision": 2, "node": "right:n5"},
        {"revision": 4, "node": "right:n5"},
        {"revision": "3", "node": "right:n5"},
        {"revision": 3, "only": "everything"},
        ["revision"],
        "revision",
        7,
    ],
)
def test_what_answers_nothing_that_was_sent_changes_nothing(view: Any) -> None:
    assert _chosen(view, SENT) == SENT
