"""The reference is true: its sessions print what they show, its tables name what there is."""

import re
from pathlib import Path

import pytest

from explorer.cli import commands
from explorer.scenario.own_nets import DECLARATIONS
from explorer.topics import STUDIES
from tests.support.command_line import ROOT
from tests.support.sessions import SESSION, Session, assert_prints

REFERENCE = ROOT / "docs" / "reference"
COMMAND_LINE = (REFERENCE / "command-line.md").read_text(encoding="utf-8")
SCENARIO_FILE = (REFERENCE / "scenario-file.md").read_text(encoding="utf-8")

(CUBES,) = re.findall(r"```python\n(.*?)```", SCENARIO_FILE, re.DOTALL)
SESSIONS = [Session(*found) for found in SESSION.findall(COMMAND_LINE + SCENARIO_FILE)]


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("session", SESSIONS, ids=[session.command for session in SESSIONS])
@pytest.mark.usefixtures("warm")
def test_a_session_prints_what_the_page_shows(
    session: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "cubes.py").write_text(CUBES)
    monkeypatch.chdir(tmp_path)
    assert_prints(session, monkeypatch, capfd)


def test_sessions_were_found() -> None:
    assert len(SESSIONS) == 7


def test_every_command_and_every_study_is_named() -> None:
    named = set(re.findall(r"^\| (.*?) \|", COMMAND_LINE, re.MULTILINE))
    cells = {name for cell in named for name in re.findall(r"`([\w-]+)`", cell)}
    assert {*commands.names(), *STUDIES} <= cells


def test_every_environment_variable_is_named() -> None:
    read = {
        name
        for path in (ROOT / "explorer").rglob("*.py")
        for name in re.findall(r'"(EXPLORER_\w+)"', path.read_text(encoding="utf-8"))
    }
    # Of the explorer's own processes.
    internal = {"EXPLORER_LIFELINE", "EXPLORER_REPORTS", "EXPLORER_PROJECT_FOLDER"}
    assert internal < read
    assert {name for name in read - internal if f"| `{name}` |" not in COMMAND_LINE} == set()


def test_every_name_that_a_scenario_may_declare_is_there() -> None:
    names = ROOT / "explorer" / "scenario" / "optional_names.py"
    asked = r'(?:names, |names\.get\(|option = )"([A-Z_]+)"'
    declared = set(re.findall(asked, names.read_text(encoding="utf-8")))
    assert declared == {*DECLARATIONS.values(), "STARTS_FROM"}
    assert {name for name in declared if f"`{name}`" not in SCENARIO_FILE} == set()
