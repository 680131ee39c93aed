"""Observations: rows of evidence made of figures, and their text in one line."""

import pytest

from explorer.model.claim import Observation, Ruling
from explorer.model.message import message
from explorer.topics.observations import (
    by_style,
    for_each,
    holds_or,
    observed,
    of_each,
    outcome,
    plain,
    ruling_by_style,
    within,
)
from explorer.words.claims import observations_text
from explorer.words.parties import party_names

GRAPH, TAPE, TORCH = "mindspore-graph", "mindspore-tape", "torch-tape"


def test_parties_with_one_answer_are_one_row() -> None:
    assert observed("sum", {GRAPH: 6, TAPE: 7, TORCH: 6}) == [
        Observation("sum", "6", (GRAPH, TORCH)),
        Observation("sum", "7", (TAPE,)),
    ]


def test_an_answer_that_is_as_stated_of_one_alone_is_two_rows() -> None:
    expected = {GRAPH: True, TAPE: False}
    assert observed("sum", {GRAPH: 6, TAPE: 6, TORCH: 6}, "{:.1f}".format, expected) == [
        Observation("sum", "6.0", (GRAPH,), True),
        Observation("sum", "6.0", (TAPE,), False),
        Observation("sum", "6.0", (TORCH,)),
    ]


def test_a_figure_is_a_message_or_what_python_prints() -> None:
    told = message("rain.fell")
    assert plain(told) is told
    assert plain([1.0]) == "[1.0]"


def test_an_attempt_that_raised_is_what_it_said_and_any_other_is_in_words() -> None:
    failed = {"raised": "TypeError", "message": "no kernel"}
    assert outcome(failed, "{:.1f}".format) == "TypeError: no kernel"
    assert outcome(6.04, "{:.1f}".format) == "6.0"


def test_figures_are_taken_and_compared_party_by_party() -> None:
    answers = {GRAPH: {"loss": {"sum": 6.0}}, TAPE: {"loss": {"sum": 7.0}}}
    sums = of_each(answers, "loss", "sum")
    assert sums == {GRAPH: 6.0, TAPE: 7.0}
    assert of_each(answers) == answers
    assert within(sums, 6.0) == {GRAPH: True, TAPE: False}
    assert for_each(str, sums) == {GRAPH: "6.0", TAPE: "7.0"}


def test_a_statement_holds_or_has_another_verdict() -> None:
    seen = (Observation("sum", "6"),)
    assert holds_or("outdated", seen, True) == Ruling("holds", seen)
    assert holds_or("outdated", seen, False, "advice") == Ruling("outdated", seen, "advice")


def test_a_line_has_what_was_measured_once_and_each_value_with_all_who_gave_it() -> None:
    rows = [
        Observation("sum", "6", (GRAPH,), True),
        Observation("mean", "2"),
        Observation("sum", "6", (TORCH,), False),
        Observation("sum", "7", (TAPE,)),
        Observation("an aside"),
    ]
    line = "sum: 6 (MindSpore graph and PyTorch tape), 7 (MindSpore tape); mean: 2; an aside"
    assert observations_text(rows) == line
    assert observations_text([]) == ""


@pytest.mark.parametrize(
    ("parties", "names"),
    [
        ((), ""),
        ((GRAPH,), "MindSpore graph"),
        ((GRAPH, TAPE), "MindSpore graph and tape"),
        ((GRAPH, TORCH), "MindSpore graph and PyTorch tape"),
        ((GRAPH, TAPE, TORCH), "MindSpore graph and tape, PyTorch tape"),
        (("mindspore", "torch", "keras"), "MindSpore, PyTorch and Keras"),
        (("nn", "torch"), "PyTorch and mindspore.nn"),
    ],
)
def test_a_framework_is_named_once_with_its_styles(parties: tuple[str, ...], names: str) -> None:
    assert party_names(parties) == names


def test_an_unknown_party_is_refused() -> None:
    with pytest.raises(KeyError):
        party_names(["nobody"])


def test_whether_an_answer_is_as_stated_can_be_told_of_each() -> None:
    figures = of_each({"torch": {"a": {"b": 1}}, "mindspore": {"a": {"b": 2}}}, "a", "b")
    rows = observed("what", figures, expected=lambda figure: figure == 1)
    assert rows == [
        Observation("what", "1", ("torch",), True),
        Observation("what", "2", ("mindspore",), False),
    ]


# Verdicts by MindSpore's styles


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


def test_a_ruling_has_the_advice_that_goes_with_its_verdict() -> None:
    right = {"mindspore-graph": True, "mindspore-tape": False}
    seen = (Observation("seen"),)
    ruling = ruling_by_style(
        right, seen, {"holds": "Rely on it.", "depends_on_style": "Look.", "does_not_hold": "Avoid"}
    )
    assert ruling == Ruling("depends_on_style", seen, "Look.")
