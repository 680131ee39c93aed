"""`explorer sweep`: past failures, taken up after a kill, ended by Ctrl-C, compared; its exit code."""

import json
import signal
from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.cli.exit_codes import AS_EXPECTED, DIFFERENT, LOST, USAGE_ERROR
from explorer.cli.sweep import _exit_code
from explorer.sweep.records import Change
from tests.support.command_line import explorer
from tests.support.scenario_files import written
from tests.support.sweep_runs import (
    are_gone,
    descendants,
    nets,
    one_at_work,
    row,
    rows,
    sweep,
    sweeping,
    until_first_is_done,
)


@pytest.mark.torch
@pytest.mark.whole
def test_it_goes_on_past_what_fails_and_says_what_has_changed_next_time(tmp_path: Path) -> None:
    folder = tmp_path / "nets"
    folder.mkdir()
    nets(folder, "square")
    written(folder, "import os\nos._exit(5)\n", "exits.py")
    written(folder, "while True:\n    pass\n", "loops.py")
    written(folder, "def inputs(:\n", "wrong.py")
    store = {"EXPLORER_STORE": str(tmp_path / "store")}
    done = explorer("sweep", "nets", "--timeout", "20", "--out", "out", cwd=tmp_path, **store)
    assert done.returncode == 3, done.stderr
    found = rows(tmp_path / "out")
    verdicts = {name: row["verdict"] for name, row in found.items()}
    assert verdicts == {
        "exits": "lost",
        "loops": "lost",
        "square": "as_expected",
        "wrong": "refused",
    }
    assert "exit code 5" in found["exits"]["reason"]
    assert "raise --timeout" in found["loops"]["reason"]
    assert "wrong.py:1: syntax error in the scenario file" in found["wrong"]["reason"]
    assert (
        found["square"]["cases"]["grad(net, grad_position=0, weights=None, has_aux=False)"]
        == "match"
    )
    assert found["square"]["pairs"]["torch-tape · torch-graph"]["divergences"] == []
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "sweep.html",
        "sweep.json",
        "junit.xml",
    }

    # Another net under the same name: it now has a case that raises.
    written(
        folder, "import numpy as np\n\n\ndef inputs():\n    return {'x': np.ones(2)}\n", "wrong.py"
    )
    nets(folder, "new")
    for name in ("exits", "loops"):
        (folder / f"{name}.py").unlink()
    arguments = ("nets", "--against", "out/sweep.json")
    again = explorer("sweep", *arguments, cwd=tmp_path, **store)
    changed = [line for line in again.stdout.splitlines() if line.startswith("changed: ")]
    assert changed == [
        "changed: nets/exits.py: row: was lost; is nothing",
        "changed: nets/loops.py: row: was lost; is nothing",
        "changed: nets/new.py: row: was nothing; is as_expected",
    ]
    assert "square.py: as expected (stored)" in again.stderr
    assert again.returncode == 3  # wrong.py is refused still


@pytest.mark.torch
@pytest.mark.sample
@pytest.mark.whole
def test_what_was_done_before_a_kill_is_not_done_again_and_ctrl_c_ends_it_with_a_report(
    tmp_path: Path,
) -> None:
    nets(tmp_path, "a", "b", "c")
    store = {"EXPLORER_STORE": str(tmp_path / "store")}
    arguments = ("*.py", "--jobs", "1", "--out", "out")
    with sweeping(*arguments, cwd=tmp_path, **store) as process:
        until_first_is_done(process)
        started = descendants(process)
        process.kill()
        assert are_gone(started)

    with sweeping(*arguments, cwd=tmp_path, **store) as process:
        until_first_is_done(process)
        one_at_work([process])
        started = descendants(process)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)
        assert process.returncode == 130, said + errors
        assert are_gone(started)
    assert "Traceback" not in errors
    assert "2 not finished" in said
    found = rows(tmp_path / "out")
    assert list(found) == ["a"]
    assert found["a"]["from_store"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing_called_so",), "matches neither a shipped scenario"),
        (("lstm", "--jobs", "0"), "--jobs must be at least 1, got 0"),
        (
            ("lstm", "--jobs", "2", "--scheduler", "tcp://127.0.0.1:1"),
            "--jobs has no effect with --scheduler",
        ),
        (("lstm", "--timeout", "0"), "--timeout must be a positive number of seconds, got 0"),
        (("lstm", "--against", "missing.json"), "cannot be read as a recorded sweep"),
        (("lstm", "--out", "/proc/nowhere"), "nothing can be written"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sweep", *arguments]) == USAGE_ERROR
    out, errors = capsys.readouterr()
    assert out == ""
    assert said in errors


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.whole
def test_studies_are_run_on_a_scenario_that_they_take(tmp_path: Path) -> None:
    done = explorer(
        "sweep", "polynomial", "--studies", "--out", str(tmp_path), "--jobs", "1", "--json",
        EXPLORER_STORE=str(tmp_path / "store"),
    )  # fmt: skip
    document = json.loads(done.stdout)
    verdicts = {row["study"]: row["verdict"] for row in document["rows"]}
    assert verdicts.pop("") == "as_expected"
    assert verdicts["tape-life"] == "measured"
    assert set(verdicts.values()) <= {"measured", "unsupported"}
    for job in document["rows"]:
        assert job["reason"] if job["verdict"] == "unsupported" else not job["reason"]
        assert job["findings"] or job["verdict"] != "measured"


CHANGE = Change(name="net", what="a", before="match", now="differs")


@pytest.mark.parametrize(
    ("verdict", "changes", "code"),
    [
        ("as_expected", None, AS_EXPECTED),
        ("different", None, DIFFERENT),
        # What was different when it was recorded, and is so now, is nothing new.
        ("different", (), AS_EXPECTED),
        ("different", (CHANGE,), DIFFERENT),
        ("as_expected", (CHANGE,), DIFFERENT),
        ("lost", None, LOST),
        ("refused", (), LOST),
        ("lost", (CHANGE,), LOST),
    ],
)
def test_what_is_lost_counts_before_changes_and_changes_before_differences(
    verdict: str, changes: tuple[Change, ...] | None, code: int
) -> None:
    assert _exit_code(sweep(row("alike"), row("net", verdict=verdict)), changes) == code
