"""Answers of other versions, which a judge or a study does not know, and what is not installed."""

from typing import Any

import msgspec

from explorer.model.claim import Board, Ruling
from explorer.model.failures import Failure
from explorer.model.measurement import Measured, Measurement
from explorer.report.claims.wording import counts
from explorer.topics.boards import judged
from explorer.topics.evidence import Evidence
from explorer.topics.in_worker import run
from explorer.topics.question import Question
from explorer.topics.studies import tell
from explorer.topics.topic import Claim, Topic
from explorer.words.claims import advice_text, evidence_text
from explorer.words.messages import text

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


def _measured(target: str) -> Measured:
    return run(Measurement(name="one", kind="mindspore", target=target))


def test_a_program_whose_module_lacks_a_package_names_the_package(
    tmp_path: Any, monkeypatch: Any
) -> None:
    (tmp_path / "in_absent.py").write_text("import no_such_package.part\n")
    (tmp_path / "in_older.py").write_text("import msgspec.no_such_part\n")
    monkeypatch.syspath_prepend(tmp_path)
    absent, older = _measured("in_absent:one"), _measured("in_older:one")
    assert absent.error == Failure(
        "ModuleNotFoundError", kind="no_package", details=("no_such_package",)
    )
    assert older.error is not None
    assert older.error.kind == "no_module"
    assert "msgspec.no_such_part" in older.error.details[0]
    assert msgspec.__name__ == "msgspec"
