"""Every verdict on padding by hand and on the side of the odd zero, by figures that could occur."""

from typing import Any

import pytest

from explorer.topics.operators.questions import (
    CONVOLUTION_SIDES,
    CONVOLUTION_SIDES_OF_A_NUMBER,
    LIBRARIES,
    MAX_POOL,
    PADDING_BY_HAND,
    STRIDED_CONVOLUTION,
    TOPIC,
)
from explorer.topics.question import MINDSPORE_STYLES
from tests.support.topics import Ruled, ruled

REFUSED = {"raised": "ValueError", "message": "got 'VAILD'"}

# Padding by hand

GUIDES = [[0, 2], [6, 8]]
OTHERS = [[4, 5], [7, 8]]


def by_hand(graph: Any, tape: Any, meant: Any = GUIDES, keras: Any = GUIDES) -> Ruled:
    figures = {}
    for style, printed in zip(MINDSPORE_STYLES, (graph, tape), strict=True):
        figures[PADDING_BY_HAND, style] = {"as printed": printed, "as meant": meant}
    for party in MAX_POOL.asks:
        pooled = keras if party == "keras" else GUIDES
        figures[MAX_POOL, party] = {"zeros top and left, then valid": pooled}
    return ruled(TOPIC.claims[46], figures)


@pytest.mark.row(46)
@pytest.mark.parametrize(
    ("ruling", "verdict", "advice"),
    [
        (by_hand(GUIDES, GUIDES), "holds", "The statement can be relied on."),
        (by_hand(REFUSED, REFUSED), "does_not_hold", 'Write pad_mode="valid"'),
        (by_hand(REFUSED, REFUSED, OTHERS), "does_not_hold", "the evidence has what was measured"),
        (by_hand(OTHERS, REFUSED, OTHERS), "does_not_hold", "the evidence has what was measured"),
        (by_hand(OTHERS, OTHERS), "does_not_hold", "the evidence has what was measured"),
        (by_hand(GUIDES, REFUSED), "depends_on_style", "Check which style you use"),
        (
            by_hand(GUIDES, GUIDES, keras=OTHERS),
            "does_not_hold",
            "the evidence has what was measured",
        ),
    ],
)
def test_lines_that_are_refused_as_printed_do_not_hold_though_they_were_meant_well(
    ruling: Ruled, verdict: str, advice: str
) -> None:
    assert ruling.verdict == verdict
    assert advice in ruling.advice


# The odd zero: how many zeros stand before and after an axis, by window

BEFORE = {"size 4": [1, 0]}
AFTER = {"size 4": [0, 1]}
BOTH = {"size 4": [1, 0], "size 6": [0, 1]}
NO_STRIDES = {"size 4": [0, 1], "size 4, stride 2": REFUSED}
NO_SAME = {"size 4": REFUSED}

NUMBER = [73.0, 154.0]
SAME = [258.0, 186.0]
ONLY_NUMBERS = {"by default": SAME, "same": SAME, "padding=1": NUMBER}
ALL_ALIKE = {"by default": NUMBER, "same": NUMBER, "padding=1": NUMBER}
NONE_ALIKE = {"by default": SAME, "same": SAME, "padding=1": SAME}


def odd_zero(
    torch: Any, mindspore: Any = AFTER, number: Any = BEFORE, strided: Any = ONLY_NUMBERS
) -> Ruled:
    same = {"mindspore": mindspore, "torch": torch, "keras": AFTER}
    figures = {(CONVOLUTION_SIDES, library): same[library] for library in LIBRARIES}
    figures[CONVOLUTION_SIDES_OF_A_NUMBER, "mindspore"] = BEFORE
    figures[CONVOLUTION_SIDES_OF_A_NUMBER, "torch"] = number
    figures[STRIDED_CONVOLUTION, "mindspore"] = strided
    figures[STRIDED_CONVOLUTION, "torch"] = {"same": REFUSED, "padding=1": NUMBER}
    return ruled(TOPIC.claims[47], figures)


@pytest.mark.row(47)
@pytest.mark.parametrize(
    ("ruling", "verdict", "advice"),
    [
        (odd_zero(BEFORE), "holds", 'as pad_mode="pad", padding=n, and never as "same"'),
        (odd_zero(NO_SAME), "holds", "MindSpore gives other values by default and same."),
        (odd_zero(NO_STRIDES), "holds_with_changes", "never as"),
        (
            odd_zero(NO_STRIDES, strided=ALL_ALIKE),
            "holds_with_changes",
            "Use the names and defaults of the evidence.",
        ),
        (
            odd_zero(NO_STRIDES, strided=NONE_ALIKE),
            "holds_with_changes",
            "Use the names and defaults of the evidence.",
        ),
        (odd_zero(AFTER), "outdated", "the evidence has what is true now"),
        (odd_zero(BOTH), "does_not_hold", "the evidence has what was measured"),
        (odd_zero(BEFORE, mindspore=BEFORE), "does_not_hold", "the evidence has what was measured"),
        (odd_zero(BEFORE, mindspore=BOTH), "does_not_hold", "the evidence has what was measured"),
        (odd_zero(NO_STRIDES, number=AFTER), "does_not_hold", "the evidence has what was measured"),
        (odd_zero(NO_SAME, number=BOTH), "does_not_hold", "the evidence has what was measured"),
    ],
)
def test_the_odd_zero_is_judged_by_same_and_by_numbers(
    ruling: Ruled, verdict: str, advice: str
) -> None:
    assert ruling.verdict == verdict
    assert advice in ruling.advice


def test_advice_names_a_setting_only_where_it_was_seen_to_differ() -> None:
    assert "same" not in odd_zero(NO_STRIDES, strided=ALL_ALIKE).advice
