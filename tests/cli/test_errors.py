"""What cannot be done is one message on stderr, with its exit code, before any work starts."""

import shlex
from pathlib import Path

import msgspec
import pytest

from explorer.cli.entry import run
from explorer.model.errors import WorkerFaultError
from explorer.workers.workers import Workers
from tests.support.scenario_files import MINIMAL, written

TABLE = Path(__file__).with_name("errors.toml").read_bytes()

MESSAGES = msgspec.toml.decode(TABLE, type=dict[str, dict[str, str]])
"""By kind, lines that cannot be done, and a part of the message of each.

Those in Chinese are Typer's that no line above has, and some of the explorer's own; all are in the catalogue.
"""


@pytest.mark.parametrize(
    ("line", "message", "options"),
    [
        *((*row, []) for row in (MESSAGES["unknown"] | MESSAGES["impossible"]).items()),
        *(
            (line, f"explorer: {said}", ["--lang=zh"])
            for line, said in MESSAGES["in_chinese"].items()
        ),
    ],
)
def test_a_usage_error_is_one_message_with_exit_code_2_in_its_language_before_any_work(
    line: str,
    message: str,
    options: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*shlex.split(line), *options]) == 2
    assert not list(tmp_path.iterdir())
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.startswith("explorer: ")
    assert printed.err.count("\n") == 1


def test_foreign_text_in_a_message_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["scenario", "\x1b[31mred\u202e"]) == 2
    message = capsys.readouterr().err
    assert "\x1b" not in message
    assert "\u202e" not in message


def test_an_output_folder_that_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(Workers, "call", None)
    assert run(["scenario", "dense_mse", "--out", str(tmp_path / "file" / "out")]) == 2
    assert "nothing can be written to" in capsys.readouterr().err


@pytest.mark.slow
def test_an_engine_without_a_net_is_refused_with_those_that_have_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lonely = written(tmp_path, MINIMAL, "lonely.py")
    assert run(["diff", str(lonely), "mindspore-tape", "torch-tape"]) == 2
    message = capsys.readouterr().err
    assert "scenario lonely defines no net for 'mindspore-tape'" in message
    assert message.endswith(" torch-tape, torch-graph\n")


def test_a_fault_of_our_own_is_its_last_line_or_a_traceback_if_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise WorkerFaultError("Traceback (most recent call last):\n  …\nKeyError: 'x'\n")

    monkeypatch.setattr(Workers, "call", fault)
    # A report that is recorded is shown where there is no framework.
    monkeypatch.setattr("explorer.cli.scenario.report_in_place", lambda *_: None)
    assert run(["scenario", "dense_mse"]) == 3
    message = capsys.readouterr().err
    assert "KeyError: 'x'" in message
    assert "Traceback" not in message
    monkeypatch.setenv("EXPLORER_TRACEBACK", "1")
    with pytest.raises(WorkerFaultError, match="most recent call last"):
        run(["scenario", "dense_mse"])
