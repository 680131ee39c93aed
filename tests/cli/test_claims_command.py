"""The ``claims`` command: what it refuses, and what has changed since a recorded board."""

import json
from pathlib import Path

import pytest

from explorer.cli.entry import run


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["claims", "999"], "unknown claim '999'; allowed: numbers from 1 to 85"),
        (["claims", "x"], "unknown claim 'x'; allowed: numbers from 1 to 85"),
        (["claims", "--topic", "nets"], "unknown topic 'nets'"),
        (["claims", "--verdict", "true"], "unknown verdict 'true'"),
        (["claims", "--json", "--html"], "exclude each other"),
        (["claims", "1", "--against", "/nowhere.json"], "cannot be read as a board of claims"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_work(
    arguments: list[str], fragment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert fragment in capsys.readouterr().err


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.usefixtures("warm")
def test_one_claim_is_run_and_its_verdict_compared_with_a_recorded_board(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["claims", "34", "--json"]) == 0
    board = json.loads(capfdbinary.readouterr().out)
    same, other = tmp_path / "same.json", tmp_path / "other.json"
    same.write_text(json.dumps(board))
    board["rows"][0]["verdict"] = "outdated"
    other.write_text(json.dumps(board))
    assert run(["claims", "34", "--against", str(same), "--markdown"]) == 0
    capfdbinary.readouterr()
    assert run(["claims", "34", "--against", str(other), "--markdown"]) == 1
    assert b"changed: 34 was outdated on mindspore 2.10.0" in capfdbinary.readouterr().err
