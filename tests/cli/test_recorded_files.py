"""``show`` and ``graph`` of recorded files: what they hold is printed; what cannot be drawn is refused."""

from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.recording.files import write_trace, write_training
from tests.recording.test_trace_files import sample
from tests.recording.test_training_files import training


def test_show_prints_what_was_recorded_of_a_step_or_a_training_which_is_not_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_trace(tmp_path / "step.trace", sample())
    assert run(["show", str(tmp_path / "step.trace")]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "step"
    assert "  ops: 1 forward, 1 backward" in rest
    losses, picture = tmp_path / "run.training", tmp_path / "graph.svg"
    write_training(losses, training())
    assert run(["show", str(losses)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "run"
    assert any(line.split() == ["2", "0.5"] for line in printed)
    assert run(["graph", str(losses), "-o", str(picture)]) == 2
    assert "is a training, which has no one graph" in capsys.readouterr().err
    assert not picture.exists()


def test_show_refuses_what_is_neither_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.md").write_text("nothing")
    assert run(["show", str(tmp_path / "notes.md")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert "it is not a trace" in printed.err
