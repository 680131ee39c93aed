"""The ``claims`` command: what it selects, and what has changed since a recorded board."""

import json
from pathlib import Path

import msgspec
import pytest

from explorer.cli import exit_codes
from explorer.cli.claims import _chosen_claims, _chosen_verdict, check_claims
from explorer.cli.entry import run
from explorer.cli.options import ClaimsOptions
from explorer.model.claim import CLAIM_VERDICTS, HEADINGS
from explorer.report.claims.wording import verdict_name
from explorer.text.language import LANGUAGES, _, said_in
from tests.support.sample_board import BOARD, HOLDS


def test_the_help_lists_every_topic_and_every_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    for language in LANGUAGES:
        assert run(["--lang", language, "claims", "--help"]) == 0
        text = "".join(capsys.readouterr().out.split())
        with said_in(language):
            for name in (*HEADINGS, *map(verdict_name, CLAIM_VERDICTS)):
                assert "".join(_(name).split()) in text


@pytest.mark.parametrize("name", ["loss scaling", "损失缩放"])
def test_a_topic_is_named_in_either_language(name: str) -> None:
    chosen = _chosen_claims(ClaimsOptions(topic=name))
    assert {claim.heading for claim in chosen} == {"loss scaling"}
    # So is a verdict, or as in JSON.
    names = ("does not hold", "does_not_hold", "不成立")
    assert {_chosen_verdict(name) for name in names} == {"does_not_hold"}


@pytest.mark.parametrize("verdict", [None, "holds", "outdated"])
def test_a_filter_hides_rows_and_no_changes(
    verdict: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = msgspec.structs.replace(BOARD, rows=(HOLDS,))
    monkeypatch.setattr("explorer.cli.claims.board_in_place", lambda _: None)
    monkeypatch.setattr("explorer.cli.claims.board", lambda *_: whole)
    recorded = tmp_path / "board.json"
    recorded.write_text('{"rows": [{"id": 1, "verdict": "outdated"}], "versions": {}}')
    options = ClaimsOptions(against=str(recorded), verdict=verdict)
    assert check_claims(options) == exit_codes.DIFFERENT
    printed = capsys.readouterr().out
    assert "changed: 1 was outdated" in printed
    assert (HOLDS.statement in printed) == (verdict != "outdated")


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_one_claim_is_run_and_its_verdict_compared_with_a_recorded_board(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["claims", "34", "--json"]) == 0
    first = capfdbinary.readouterr()
    assert b"stored" not in first.err
    board = json.loads(first.out)
    same, other = tmp_path / "same.json", tmp_path / "other.json"
    same.write_text(json.dumps(board))
    board["rows"][0]["verdict"] = "outdated"
    other.write_text(json.dumps(board))
    assert run(["claims", "34", "--against", str(same), "--markdown"]) == 0
    assert b"stored result shown; --fresh runs it again" in capfdbinary.readouterr().err
    assert run(["claims", "34", "--against", str(other), "--markdown"]) == 1
    assert b"changed: 34 was outdated on mindspore 2.10.0" in capfdbinary.readouterr().err
