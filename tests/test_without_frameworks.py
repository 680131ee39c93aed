"""Where no framework is, and on other systems, what was recorded is shown, with a line how to run it."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from explorer.environments.known import VARIABLES
from explorer.folders import SETTINGS
from explorer.report.recorded.results import recording
from explorer.shipped import PACKAGE
from explorer.topics import claims
from tests.support.command_line import python
from tests.support.hidden import as_on_windows, hiding
from tests.support.house import FRAMEWORKS, House
from tests.support.scenario_files import MINIMAL, written

pytestmark = pytest.mark.slow

IN_TURN = """
import contextlib, io, json, sys
from explorer.cli.entry import run

said = {}
for command in json.loads(sys.argv[1]):
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        code = run(command.split())
    said[command] = [code, *(stream.buffer.getvalue().decode() for stream in streams)]
print(json.dumps(said))
"""
"""Runs commands one after the other in one process: each alone would take seconds to start."""


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


class Bare(NamedTuple):
    """A folder, and the variables of a process in which the explorer finds no framework."""

    folder: Path
    environment: dict[str, str]

    def run(self, program: str, *arguments: str) -> str:
        """What a program prints that ends as it should."""
        where: dict[str, Any] = {"cwd": self.folder, "env": self.environment}
        return python("-c", program, *arguments, seconds=300, **where)

    def commands(self, *commands: str, before: str = "") -> dict[str, Done]:
        """What commands print, after a program has run before them."""
        printed = self.run(f"{before}\n{IN_TURN}", json.dumps(commands))
        said: dict[str, list[Any]] = json.loads(printed.splitlines()[-1])
        return {command: Done(*of_command) for command, of_command in said.items()}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Bare:
    folder = tmp_path_factory.mktemp("bare")
    (folder / "hiding").mkdir()
    hidden = hiding(FRAMEWORKS, folder / "hiding")
    written(folder, MINIMAL)
    own = {"EXPLORER_STORE": str(folder / "store"), SETTINGS: str(folder / "settings")}
    named = dict.fromkeys(VARIABLES.values(), "")  # whoever runs the tests may name environments
    return Bare(folder, {**os.environ, **named, **hidden, **own})


RECORDED = {
    "scenario dense_mse": (0, "all as expected"),
    "scenario dense_mse --json": (0, '"scenario": "dense_mse"'),
    "diff aliased_input torch-tape mindspore-graph": (1, "divergence"),
    "diff dense_mse torch-tape torch-graph --json": (0, '"left": "torch-tape"'),
    "study schedules": (0, "Schedules"),
    "claims 54": (0, "54"),
    "claims --json": (0, '"rows"'),
    "graph dense_mse -o net.svg": (0, "wrote net.svg"),
    "scenario dense_mse --format html --out pages": (0, "all as expected"),
}
"""Commands, with their exit codes and a part of what they print."""

NOT_RECORDED = ("scenario dense_mse --fresh", "scenario given.py")


@pytest.mark.sample
@pytest.mark.whole
def test_commands_show_what_was_recorded_and_say_what_is_missing_for_the_rest(bare: Bare) -> None:
    said = bare.commands(*RECORDED, *NOT_RECORDED)
    for command, (code, shown) in RECORDED.items():
        done = said[command]
        assert done.code == code, done
        assert shown in done.out
        (line,) = done.err.splitlines()
        assert f"recorded on {recording().date} with mindspore " in line
        assert "to run it, python -m pip install" in line
        if command.endswith("--json"):
            json.loads(done.out)
    assert (bare.folder / "net.svg").read_text(encoding="utf-8").startswith("<svg")
    for command in NOT_RECORDED:
        assert said[command].code == 3
        assert "cannot be used: No module named" in said[command].err
        assert "Traceback" not in said[command].err


def test_the_api_shows_what_was_recorded(bare: Bare) -> None:
    code = (
        "import explorer\n"
        "print(explorer.explore('dense_mse').summary)\n"
        "print(explorer.diff('aliased_input').is_same)\n"
        "print(len(explorer.graph('dense_mse').content) > 1000)\n"
        "print(len(explorer.study('schedules').findings) > 0)\n"
        "print(len(explorer.claims().board.rows))\n"
        "print(explorer.explore('dense_mse').save('page.html'))\n"
    )
    summary, *rest = bare.run(code).splitlines()
    assert "as expected" in summary
    assert rest == ["False", "True", "True", str(len(claims())), "page.html"]
    assert "<svg" in (bare.folder / "page.html").read_text(encoding="utf-8")


def test_what_is_missing_is_named_with_what_to_install_or_set(bare: Bare) -> None:
    said = bare.commands("doctor", "env list")
    doctor, environments = said["doctor"], said["env list"]
    assert doctor.code == 3
    rows = [line.split(maxsplit=2) for line in doctor.out.splitlines()]
    assert ["mindspore", "missing", "not installed"] in rows
    assert ["torch", "missing", "not installed"] in rows
    (advice,) = (line for line in doctor.out.splitlines() if line.startswith("torch: "))
    assert advice.startswith('torch: python -m pip install "torch==')
    assert "env add NAME PYTHON` for a Python that has it" in advice
    assert "explorer doctor" not in doctor.out
    head, row, *_ = environments.out.splitlines()
    assert row[head.index("runs") : head.index("named")].strip() == "none"


# Other systems


LACKING = """
for line in ("import os; os.fork", "import fcntl", "from socket import send_fds"):
    try:
        exec(line)
    except (ImportError, AttributeError):
        continue
    raise AssertionError(line)
"""


@pytest.mark.sample
@pytest.mark.whole
def test_another_system_imports_every_module_of_the_parent_shows_what_was_recorded_and_runs_no_net(
    bare: Bare,
) -> None:
    house = House.at(PACKAGE.parent)
    modules = [name for name in house.parent_modules() if name != "explorer.__main__"]
    assert "explorer.workers.nursery" in modules
    importing = f"for name in {modules}:\n    importlib.import_module(name)\n"
    shown = ("scenario dense_mse", "claims 54", "study schedules", "scenario")
    said = bare.commands(
        *shown, "scenario given.py", before=f"{as_on_windows()}\n{LACKING}\n{importing}"
    )
    for command in shown:
        assert said[command].code == 0, said[command]
        assert len(said[command].out) > 200
        assert "Traceback" not in said[command].err
    refused = said["scenario given.py"]
    assert refused.code == 3
    (line,) = refused.err.splitlines()
    assert "nets cannot be run on this system; use Linux" in line
