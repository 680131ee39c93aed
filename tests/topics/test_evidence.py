"""Evidence: answers by party, why figures are missing, and answers that a judge or a study does not know."""

from typing import Any

import msgspec
import pytest

from explorer.model.claim import Board, Ruling
from explorer.model.failures import Failure
from explorer.model.measurement import Measured, Measurement
from explorer.report.claims.wording import counts
from explorer.topics.boards import judged
from explorer.topics.cells import missing, no_figures, why_missing
from explorer.topics.evidence import Attempt, Evidence, flat_numbers, grouped, spaced
from explorer.topics.in_worker import run
from explorer.topics.question import Question, Target
from explorer.topics.studies import tell
from explorer.topics.topic import Claim, Topic
from explorer.words.claims import advice_text, evidence_text
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
    # A sentence stands there once, and parties can have other labels.
    assert missing(evidence, rain, rain) == missing(evidence, rain)
    sentence = missing(evidence, rain.by("mindspore-graph"), labels={"mindspore-graph": "graph"})
    assert text(sentence) == "graph: signal 11."


def test_all_measurements_with_one_reason_stand_together(evidence: Evidence) -> None:
    note = text(no_figures(evidence))
    assert note == "No figures of rain.mindspore-graph, snow.mindspore-graph: crashed: signal 11."
    assert no_figures(Evidence({})) == ""


QUESTION = Question(
    topic="t",
    name="q",
    asks=("mindspore-tape",),
    package="p",
    programs={"mindspore-tape": "in_mindspore:q"},
)
NAME = QUESTION.measurement_name("mindspore-tape")


def _judge(evidence: Evidence, expects: dict[str, Any]) -> Ruling:
    (figures,) = evidence[QUESTION].values()
    return Ruling(figures["verdict"], ())


CLAIM = Claim(1, "gradients", "A statement.", ("ours",), "it is so", (QUESTION,), _judge, {})


def _row(measured: Measured) -> Any:
    return judged(CLAIM, {NAME: measured})


def test_a_judge_that_raises_gives_a_verdict_of_its_own_with_what_it_raised() -> None:
    row = _row(Measured(outcome="ok", figures={}))
    assert row.verdict == "not_judged"
    assert evidence_text(row) == "judging raised: KeyError: 'verdict'"
    assert advice_text(row) == "Read what was measured: nothing is known to be said for it."
    board = Board(
        date="2026-01-01",
        versions={},
        rows=(row, _row(Measured(outcome="ok", figures={"verdict": "holds"}))),
    )
    assert counts(board) == "2 claims: 1 holds, 1 is not judged"


def test_what_lacks_a_package_could_not_be_run_here_and_says_which() -> None:
    error = Failure("ModuleNotFoundError", kind="no_package", details=("keras",))
    row = _row(Measured(outcome="unsupported", error=error))
    assert row.verdict == "not_runnable_here"
    assert "keras is not installed where this ran" in evidence_text(row)


def test_a_worker_that_died_gives_no_verdict() -> None:
    assert _row(Measured(outcome="crashed", error=Failure("crashed"))).verdict is None


def test_a_finding_that_raises_is_told_and_takes_no_other_along() -> None:
    topic = Topic("t", "p")
    topic.finding()(lambda evidence: [f"{1 / 0}"])
    topic.finding()(lambda evidence: ["fine"])
    fine, untold = tell(topic, Evidence({})).findings
    assert fine == "fine"
    assert text(untold).endswith("measured here: ZeroDivisionError: division by zero")


def test_a_program_whose_module_lacks_a_package_names_the_package(
    tmp_path: Any, monkeypatch: Any
) -> None:
    (tmp_path / "in_absent.py").write_text("import no_such_package.part\n")
    (tmp_path / "in_older.py").write_text("import msgspec.no_such_part\n")
    monkeypatch.syspath_prepend(tmp_path)
    absent, older = (
        run(Measurement(name="one", kind="mindspore", target=f"{module}:one"))
        for module in ("in_absent", "in_older")
    )
    assert absent.error == Failure(
        "ModuleNotFoundError", kind="no_package", details=("no_such_package",)
    )
    assert older.error is not None
    assert older.error.kind == "no_module"
    assert "msgspec.no_such_part" in older.error.details[0]
