"""Every verdict on what Dropout's number means, by shares that can occur."""

from typing import Any

import pytest

from explorer.model.measurement import Figures
from explorer.topics.operators.questions import DROPOUT_SETTINGS, TOPIC
from explorer.topics.question import Question
from explorer.words.claims import ANY_ADVICE
from tests.support.topics import ruled

KEPT_03 = {"kept": 0.304}
KEPT_07 = {"kept": 0.697}
REFUSED = {"raised": "TypeError", "message": "no such argument"}
NOTICE = "After version 2.9.0, `keep_prob` will be removed"


@pytest.mark.row(41)
@pytest.mark.parametrize(
    ("keep_prob", "rate", "bare", "notice", "verdict", "advice"),
    [
        (KEPT_07, REFUSED, KEPT_03, "", "holds", ANY_ADVICE["holds"]),
        (
            KEPT_07,
            KEPT_07,
            KEPT_03,
            NOTICE,
            "holds_with_changes",
            "Write p= by name: it means the same in both; a bare number means keep_prob in"
            " MindSpore. Once keep_prob is gone, as is announced, Dropout(0.3) will drop what it"
            " keeps.",
        ),
        (
            KEPT_07,
            KEPT_07,
            KEPT_03,
            "",
            "holds_with_changes",
            "Write p= by name: it means the same in both; a bare number means keep_prob in"
            " MindSpore.",
        ),
        (
            KEPT_07,
            KEPT_07,
            KEPT_07,
            NOTICE,
            "holds_with_changes",
            "Write p= by name: it means the same in both; a bare number means p in MindSpore.",
        ),
        (
            KEPT_07,
            KEPT_07,
            REFUSED,
            "",
            "holds_with_changes",
            ANY_ADVICE["holds_with_changes"],
        ),
        (
            REFUSED,
            KEPT_07,
            KEPT_07,
            "",
            "outdated",
            ANY_ADVICE["outdated"],
        ),
        (
            KEPT_03,
            KEPT_07,
            KEPT_03,
            "",
            "does_not_hold",
            ANY_ADVICE["does_not_hold"],
        ),
        (
            KEPT_07,
            KEPT_03,
            KEPT_03,
            "",
            "does_not_hold",
            ANY_ADVICE["does_not_hold"],
        ),
    ],
)
def test_dropout_is_judged_by_the_shares_that_survive(
    keep_prob: Any, rate: Any, bare: Any, notice: str, verdict: str, advice: str
) -> None:
    mindspore = {
        "keep_prob=0.7": keep_prob,
        "p=0.3": rate,
        "0.3 alone": bare,
        "notice": notice,
    }
    world: dict[tuple[Question, str], Figures] = {
        (DROPOUT_SETTINGS, "mindspore"): mindspore,
        (DROPOUT_SETTINGS, "torch"): {"p=0.3": KEPT_07, "0.3 alone": KEPT_07},
        (DROPOUT_SETTINGS, "keras"): {"rate=0.3": KEPT_07},
    }
    ruling = ruled(TOPIC.claims[41], world)
    assert (ruling.verdict, ruling.advice) == (verdict, advice)
    assert (NOTICE in ruling.evidence) == bool(notice)
