"""``show`` and ``graph`` of recorded files: what they hold is printed; what cannot be drawn is refused."""

from pathlib import Path

import numpy as np
import pytest

from explorer.cli.entry import run
from explorer.model.arrays import pack
from explorer.model.engines import Framework
from explorer.model.trace import Start, Trace
from explorer.recording.files import write_trace, write_training
from tests.recording.test_trace_files import sample
from tests.recording.test_training_files import training
from tests.support.written_nets import net


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


@pytest.mark.parametrize(("framework", "is_said"), [("mindspore", True), ("jax", False)])
@pytest.mark.parametrize("name", ["weight", "running_mean"])
def test_a_comparison_says_how_both_programs_get_one_start_where_each_takes_it(
    framework: Framework,
    is_said: bool,
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = []
    sides: tuple[tuple[Framework, float], ...] = (("torch", 1.0), (framework, 2.0))
    for side, value in sides:
        graph = net(
            f"{side}-tape", f"leaf = parameter {name}: np.full(4, {value})\nout = Fuse: x - leaf"
        )
        start = (Start(name, "parameter", pack(np.full(4, value))),)
        files.append(tmp_path / f"{side}.trace")
        write_trace(files[-1], Trace(name=side, framework=side, start=start, graph=graph))
    run(["diff", *map(str, files)])
    assert ("to give both programs the start of" in capsys.readouterr().out) == is_said


def test_show_refuses_what_is_neither_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.md").write_text("nothing")
    assert run(["show", str(tmp_path / "notes.md")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert "it is not a trace" in printed.err
