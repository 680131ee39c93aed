"""Where no framework is, and on other systems, what was recorded is shown, with a line how to run it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.report.recorded.results import recording
from explorer.shipped import PACKAGE
from explorer.topics import claims
from tests.support.hidden import as_on_windows, hiding
from tests.support.house import FRAMEWORKS, House
from tests.support.scenario_files import MINIMAL, written

pytestmark = pytest.mark.slow


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """Variables of a process in which the explorer finds no framework."""
    folder = tmp_path / "hiding"
    folder.mkdir()
    return {**os.environ, **hiding(FRAMEWORKS, folder), "EXPLORER_STORE": str(tmp_path / "store")}


def run(
    environment: dict[str, str], folder: Path, *arguments: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "code", "shown"),
    [
        ("scenario dense_mse", 0, "all as expected"),
        ("scenario dense_mse --json", 0, '"scenario": "dense_mse"'),
        ("diff aliased_input torch-tape mindspore-graph", 1, "divergence"),
        ("diff dense_mse torch-tape torch-graph --json", 0, '"left": "torch-tape"'),
        ("study schedules", 0, "Schedules"),
        ("claims 54", 0, "54"),
        ("claims --json", 0, '"rows"'),
    ],
)
def test_a_command_shows_what_was_recorded(
    bare: dict[str, str], tmp_path: Path, command: str, code: int, shown: str
) -> None:
    done = run(bare, tmp_path, "-m", "explorer", *command.split())
    assert done.returncode == code, done.stdout + done.stderr
    assert shown in done.stdout
    (line,) = done.stderr.splitlines()
    assert f"recorded on {recording().date} with mindspore " in line
    assert "to run it, python -m pip install" in line
    if command.endswith("--json"):
        json.loads(done.stdout)


def test_a_graph_is_drawn_from_what_was_recorded(bare: dict[str, str], tmp_path: Path) -> None:
    done = run(bare, tmp_path, "-m", "explorer", "graph", "dense_mse", "-o", "net.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "net.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_api_shows_what_was_recorded(bare: dict[str, str], tmp_path: Path) -> None:
    code = (
        "import explorer\n"
        "print(explorer.explore('dense_mse').summary)\n"
        "print(explorer.diff('aliased_input').is_same)\n"
        "print(len(explorer.graph('dense_mse').content) > 1000)\n"
        "print(len(explorer.study('schedules').findings) > 0)\n"
        "print(len(explorer.claims().board.rows))\n"
    )
    done = run(bare, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    summary, *rest = done.stdout.splitlines()
    assert "as expected" in summary
    assert rest == ["False", "True", "True", str(len(claims()))]


def test_what_is_not_recorded_says_what_is_missing(bare: dict[str, str], tmp_path: Path) -> None:
    path = written(tmp_path, MINIMAL)
    for given in (["scenario", "dense_mse", "--fresh"], ["scenario", str(path)]):
        done = run(bare, tmp_path, "-m", "explorer", *given)
        assert done.returncode == 3
        assert "cannot be used: No module named" in done.stderr
        assert "Traceback" not in done.stderr


# Other systems


def test_every_module_of_the_parent_can_be_imported_on_other_systems(
    bare: dict[str, str], tmp_path: Path
) -> None:
    house = House.at(PACKAGE.parent)
    modules = [name for name in house.parent_modules() if name != "explorer.__main__"]
    assert "explorer.workers.nursery" in modules
    code = f"{as_on_windows()}\nfor name in {modules}:\n    importlib.import_module(name)\n"
    done = run(bare, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr


def test_what_another_system_lacks_is_lacking(bare: dict[str, str], tmp_path: Path) -> None:
    for line in ("import os; os.fork", "import fcntl", "from socket import send_fds"):
        done = run(bare, tmp_path, "-c", f"{as_on_windows()}\n{line}\n")
        assert done.returncode == 1
        assert "Error" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "command", ["scenario dense_mse", "claims 54", "study schedules", "scenario"]
)
def test_another_system_shows_what_was_recorded(
    bare: dict[str, str], tmp_path: Path, command: str
) -> None:
    code = (
        f"{as_on_windows()}\nfrom explorer.cli.entry import run\nsys.exit(run({command.split()}))\n"
    )
    done = run(bare, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) > 200
    assert "Traceback" not in done.stderr


def test_another_system_says_that_it_runs_no_net(bare: dict[str, str], tmp_path: Path) -> None:
    path = written(tmp_path, MINIMAL)
    program = f"run(['scenario', {str(path)!r}])"
    code = f"{as_on_windows()}\nfrom explorer.cli.entry import run\nsys.exit({program})\n"
    done = run(bare, tmp_path, "-c", code)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "nets cannot be run on this system; use Linux" in line
