"""What the browser says is chosen in two graphs: it counts where it answers what it was sent."""

from typing import Any

import pytest

from explorer.web.pair_view import ViewState, _chosen

SENT = ViewState(revision=3, node="left:n1")


def test_a_choice_at_the_revision_that_was_sent_counts() -> None:
    assert _chosen({"revision": 3, "node": "right:n5"}, SENT).node == "right:n5"


@pytest.mark.parametrize(
    "view",
    [
        None,
        {},
        {"revision": 2, "node": "right:n5"},
        {"revision": 4, "node": "right:n5"},
        {"revision": "3", "node": "right:n5"},
        {"revision": 3, "only": "everything"},
        ["revision"],
        "revision",
    ],
)
def test_what_answers_nothing_that_was_sent_changes_nothing(view: Any) -> None:
    assert _chosen(view, SENT) == SENT
