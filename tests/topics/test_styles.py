"""Verdicts by MindSpore's styles."""

import pytest

from explorer.model.claim import Observation
from explorer.topics.observations import by_style, ruling_by_style


@pytest.mark.parametrize(
    ("graph", "tape", "verdict"),
    [
        (True, True, "holds"),
        (True, False, "depends_on_style"),
        (False, True, "depends_on_style"),
        (False, False, "does_not_hold"),
    ],
)
def test_what_is_right_in_one_style_alone_depends_on_it(
    graph: bool, tape: bool, verdict: str
) -> None:
    right = {"mindspore-graph": graph, "mindspore-tape": tape}
    assert by_style(right) == verdict
    assert by_style({**right, "torch-tape": not graph}) == verdict


SEEN = (Observation("seen"),)


def test_a_ruling_has_the_advice_that_goes_with_its_verdict() -> None:
    right = {"mindspore-graph": True, "mindspore-tape": False}
    ruling = ruling_by_style(
        right,
        SEEN,
        {"holds": "Rely on it.", "depends_on_style": "Look.", "does_not_hold": "Avoid it."},
    )
    assert (ruling.verdict, ruling.evidence, ruling.advice) == ("depends_on_style", SEEN, "Look.")
