"""Why a table has empty cells: not measured, failed, and each reason said once."""

import pytest

from explorer.model.measurement import Measured
from explorer.model.results import Failure
from explorer.topics.cells import no_figures, reason, why_empty
from explorer.topics.evidence import Evidence
from explorer.topics.question import Question
from explorer.topics.topic import Topic

LOST = Measured(outcome="crashed", error=Failure("crashed", "signal 11"))


@pytest.fixture
def rain() -> Question:
    weather = Topic(name="weather", package="tests.weather")
    return weather.ask("rain", ("mindspore-tape", "mindspore-graph", "torch-tape"))


@pytest.fixture
def evidence() -> Evidence:
    return Evidence(
        {
            "weather.rain.torch-tape": Measured(outcome="ok", figures={"drops": 2}),
            "weather.rain.mindspore-graph": LOST,
            "weather.snow.mindspore-graph": LOST,
        }
    )


def test_a_party_without_figures_has_a_reason(rain: Question, evidence: Evidence) -> None:
    assert reason(evidence, rain, "mindspore-tape") == "not measured"
    assert reason(evidence, rain, "mindspore-graph") == "signal 11"
    assert reason(evidence, rain, "mindspore-graph", with_type=True) == "crashed: signal 11"


def test_empty_cells_are_explained_party_by_party(rain: Question, evidence: Evidence) -> None:
    sentences = why_empty(evidence, rain)
    assert sentences == "MindSpore, tape: not measured. MindSpore, graph: signal 11."
    assert why_empty(evidence, rain.by("torch-tape")) == ""


def test_a_sentence_stands_there_once(rain: Question, evidence: Evidence) -> None:
    assert why_empty(evidence, rain, rain) == why_empty(evidence, rain)


def test_parties_can_have_other_labels(rain: Question, evidence: Evidence) -> None:
    sentence = why_empty(evidence, rain.by("mindspore-graph"), labels={"mindspore-graph": "graph"})
    assert sentence == "graph: signal 11."


def test_all_measurements_with_one_reason_stand_together(evidence: Evidence) -> None:
    note = no_figures(evidence)
    assert note == "No figures of rain.mindspore-graph, snow.mindspore-graph: crashed: signal 11."
    assert no_figures(Evidence({})) == ""
