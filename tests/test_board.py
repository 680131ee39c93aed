"""The table of claims, the board's faces, and what changed since a recorded one."""

import io
import json
from pathlib import Path

import pytest
from explorer.topics.claims import claims
from rich.console import Console

from explorer.cli import claims as command
from explorer.cli.entry import run
from explorer.model.claim import GUIDES, HEADINGS, Board, ClaimRow
from explorer.model.measurement import Measured
from explorer.report import board as pages
from explorer.topics.judging import board, needed
from explorer.workers.workers import Workers

SAID = "<script>alert(1)</script> | `x`"
BOARD = Board(
    date="2026-01-01",
    versions={"mindspore": "2.10.0", "torch": "2.13.0"},
    rows=(
        ClaimRow(
            id=1, topic="gradients", statement="A gradient is a gradient.", guides=("004",), would="So it is.", verdict="holds",
            evidence=SAID, advice="Go on.", measured=("one",),
        ),
        ClaimRow(
            id=44, topic="operators", statement="transpose permutes.", guides=("000",), would="It does.", verdict=None,
            evidence="could not be run: MissingFramework", advice="", measured=("one",),
        ),
    ),
    measured={"one": Measured(outcome="ok", figures={"a": 1}, code="def one(ask):\n    return 1\n")},
)  # fmt: skip


def test_there_is_a_claim_for_every_row_of_the_guides() -> None:
    assert list(claims()) == list(range(1, 62))


def test_every_claim_names_a_topic_guides_and_measurements() -> None:
    for claim in claims().values():
        assert claim.topic in HEADINGS
        assert claim.guides
        assert set(claim.guides) <= set(GUIDES)
        assert claim.measurements
        assert claim.statement.endswith(".")
        assert "\n" not in claim.statement


def test_one_measurement_serves_all_claims_that_need_it() -> None:
    names = [each.name for each in needed(claims().values())]
    assert len(names) == len(set(names))
    assert len(names) < sum(len(claim.measurements) for claim in claims().values())


def test_the_terminal_has_a_line_of_evidence_for_each_row() -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    pages.show(BOARD, console)
    shown = console.export_text()
    assert "2 claims: 1 holds, 1 not run" in shown
    assert SAID in shown


def test_one_claim_in_full_shows_the_code_that_was_run() -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    pages.show_one(BOARD, BOARD.rows[0], console)
    shown = console.export_text()
    assert "def one(ask):" in shown
    assert "So it is." in shown
    assert "true on the installed versions" in shown


def test_pages_escape_what_frameworks_say() -> None:
    assert "<script>" not in pages.html(BOARD)
    assert "\\<script\\>" in pages.markdown(BOARD)
    assert "\\|" in pages.markdown(BOARD)


def test_the_page_says_versions_and_date() -> None:
    page = pages.markdown(BOARD)
    assert "2026-01-01" in page
    assert "mindspore 2.10.0" in page


def test_the_document_is_strict_json() -> None:
    document = json.loads(json.dumps(pages.document(BOARD), allow_nan=False))
    assert [row["verdict"] for row in document["rows"]] == ["holds", None]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["claims", "62"], "no claim has the number '62'"),
        (["claims", "x"], "no claim has the number 'x'"),
        (["claims", "--topic", "nets"], "no topic is called 'nets'"),
        (["claims", "--verdict", "true"], "no verdict is called 'true'"),
        (["claims", "--json", "--html"], "exclude each other"),
        (["claims", "1", "--against", "/nowhere.json"], "is no board"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_work(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert said in capsys.readouterr().err


def test_one_claim_is_run_and_its_verdict_compared_with_a_recorded_board(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["claims", "34", "--json"]) == 0
    recorded = json.loads(capfdbinary.readouterr().out)
    same, other = tmp_path / "same.json", tmp_path / "other.json"
    same.write_text(json.dumps(recorded))
    recorded["rows"][0]["verdict"] = "outdated"
    other.write_text(json.dumps(recorded))
    asked = command.Asked(
        row="34", topic=None, verdict=None, against=same, faces=("markdown",), timeout=60.0
    )
    assert command.claims(asked) == 0
    capfdbinary.readouterr()
    assert run(["claims", "34", "--against", str(other), "--markdown"]) == 1
    assert b"changed: 34 was outdated on mindspore 2.10.0" in capfdbinary.readouterr().err


def test_without_one_framework_the_claims_about_the_other_still_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mindspore").mkdir()
    (tmp_path / "mindspore" / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'mindspore'\")\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    known = claims()
    one_sided = next(
        claim for claim in known.values() if {each.kind for each in claim.measurements} == {"torch"}
    )
    with Workers() as workers:
        made = board((one_sided, known[32]), workers)
    alone, both = made.rows
    assert alone.verdict is not None
    assert both.verdict is None
    assert "No module named 'mindspore'" in both.evidence
    assert "doctor" in both.evidence
    assert list(made.versions) == ["torch"]
