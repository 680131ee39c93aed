"""The README does what it says: its commands run, and print what it shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.model.engines import ENGINES
from explorer.scenario.contract import FOLDER

ROOT = FOLDER.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SCENARIO = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SESSIONS = re.findall(r"```console\n\$ (.*?)\n(.*?)```", TEXT, re.DOTALL)


def run(command: str, folder: Path) -> str:
    words = [sys.executable, *shlex.split(command)[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=[command for command, _ in SESSIONS])
def test_a_session_prints_what_the_readme_shows(command: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "cubes.py").write_text(SCENARIO[0])
    printed = iter(line.rstrip() for line in run(command, tmp_path).splitlines())
    for line in (line.rstrip() for line in shown.splitlines()):
        assert line == "…" or line in printed, f"{line!r} is not printed, or not in this place"


def test_the_readme_names_every_engine_every_image_is_there_and_make_has_every_target() -> None:
    assert all(f"`{name}`" in TEXT for name in ENGINES)
    images = re.findall(r"!\[.*?\]\((.*?)\)", TEXT)
    assert images
    assert all((ROOT / image).is_file() for image in images)
    targets = re.findall(r"`make (\w+)`", TEXT)
    assert {"run", "test", "app", "bench"} <= set(targets)
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{target}:" in made for target in targets)


def test_sessions_and_scenario_were_found() -> None:
    assert len(SCENARIO) == 1
    assert len(SESSIONS) == 6
