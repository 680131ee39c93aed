"""Evidence: answers by party, equal ones together, and why figures are missing."""

import msgspec
import pytest

from explorer.model.failures import Failure
from explorer.model.measurement import Measured
from explorer.topics.cells import missing, no_figures, why_missing
from explorer.topics.evidence import (
    Attempt,
    Evidence,
    flat_numbers,
    grouped,
    spaced,
)
from explorer.topics.question import Question, Target
from explorer.topics.topic import Topic
from explorer.words.messages import text

LOST = Measured(outcome="crashed", error=Failure("crashed", "signal 11"))


@pytest.fixture
def rain() -> Question:
    """A question to three engines."""
    weather = Topic(name="weather", package="tests.weather")
    return weather.ask("rain", ("mindspore-tape", "mindspore-graph", "torch-tape"))


@pytest.fixture
def evidence() -> Evidence:
    """One engine answered, one was lost, one was not measured; and another question was lost."""
    return Evidence(
        {
            "weather.rain.torch-tape": Measured(outcome="ok", figures={"drops": 2}),
            "weather.rain.mindspore-graph": LOST,
            "weather.snow.mindspore-graph": LOST,
        }
    )


def test_evidence_says_what_it_is_about() -> None:
    assert Evidence({}, Target("/nets/mine.py")).target.name == "mine"
    assert Evidence({}).target.name == ""


def test_evidence_leaves_out_who_did_not_answer(rain: Question, evidence: Evidence) -> None:
    assert evidence[rain] == {"torch-tape": {"drops": 2}}
    assert not evidence.answered(rain)
    assert evidence.answered(rain.by("torch-tape"))
    assert evidence.failures == {
        "weather.rain.mindspore-graph": LOST.error,
        "weather.snow.mindspore-graph": LOST.error,
    }
    assert Evidence({})[rain] == {}


class Shower(Attempt, frozen=True, kw_only=True, rename=spaced):
    """What fell, or why nothing was measured."""

    drops: int = 0
    of_hail: bool = False


def test_records_are_the_figures_of_who_answered(rain: Question) -> None:
    refused = {"raised": "RuntimeError", "message": "No gauge. Buy one"}
    hail = Measured(outcome="ok", figures={"drops": 2, "of hail": True})
    evidence = Evidence(
        {
            "weather.rain.mindspore-tape": Measured(outcome="ok", figures=refused),
            "weather.rain.mindspore-graph": LOST,
            "weather.rain.torch-tape": hail,
        }
    )
    showers = evidence.records(rain, Shower)
    assert list(showers) == ["mindspore-tape", "torch-tape"]
    assert showers["torch-tape"] == Shower(drops=2, of_hail=True)
    assert showers["torch-tape"].brief_error == ""
    assert showers["mindspore-tape"].error == "RuntimeError: No gauge. Buy one"
    assert showers["mindspore-tape"].brief_error == "RuntimeError: No gauge"


class Walk(msgspec.Struct, frozen=True):
    """A walk in the rain."""

    steps: int


def test_a_figure_that_is_missing_or_of_another_type_is_an_error(rain: Question) -> None:
    for figures in ({}, {"steps": "two"}):
        measured = Measured(outcome="ok", figures=figures)
        with pytest.raises(msgspec.ValidationError, match="steps"):
            Evidence({"weather.rain.torch-tape": measured}).records(rain, Walk)


def test_timings_belong_to_who_answered(rain: Question) -> None:
    timed = Measured(outcome="ok", figures={}, timings={"fall": 0.5})
    evidence = Evidence({"weather.rain.mindspore-graph": LOST, "weather.rain.torch-tape": timed})
    assert evidence.timings(rain) == {"torch-tape": {"fall": 0.5}}


def test_each_answer_stands_once_with_all_who_gave_it() -> None:
    answers = {"graph": [1, 2], "tape": [3], "torch": [1, 2]}
    assert grouped(answers) == [(["graph", "torch"], [1, 2]), (["tape"], [3])]


def test_nobody_answers_nothing() -> None:
    assert grouped({}) == []


def test_numbers_of_nested_figures_stand_in_order() -> None:
    assert flat_numbers([[1, [2.5]], 3, []]) == [1.0, 2.5, 3.0]
    assert flat_numbers("Infinity") == [float("inf")]
    with pytest.raises(ValueError, match="could not convert"):
        flat_numbers(["none"])


def test_a_party_without_figures_has_a_reason(rain: Question, evidence: Evidence) -> None:
    assert text(why_missing(evidence, rain, "mindspore-tape")) == "not measured"
    assert text(why_missing(evidence, rain, "mindspore-graph")) == "signal 11"
    typed = why_missing(evidence, rain, "mindspore-graph", with_type=True)
    assert text(typed) == "crashed: signal 11"


def test_empty_cells_are_explained_party_by_party(rain: Question, evidence: Evidence) -> None:
    sentences = text(missing(evidence, rain))
    assert sentences == "MindSpore, tape: not measured. MindSpore, graph: signal 11."
    assert missing(evidence, rain.by("torch-tape")) == ""


def test_a_sentence_stands_there_once(rain: Question, evidence: Evidence) -> None:
    assert missing(evidence, rain, rain) == missing(evidence, rain)


def test_parties_can_have_other_labels(rain: Question, evidence: Evidence) -> None:
    sentence = missing(evidence, rain.by("mindspore-graph"), labels={"mindspore-graph": "graph"})
    assert text(sentence) == "graph: signal 11."


def test_all_measurements_with_one_reason_stand_together(evidence: Evidence) -> None:
    note = text(no_figures(evidence))
    assert note == "No figures of rain.mindspore-graph, snow.mindspore-graph: crashed: signal 11."
    assert no_figures(Evidence({})) == ""
