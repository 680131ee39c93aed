"""The README does what it says: its commands run, and print what it shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.model.engines import ENGINES
from tests.support.command_line import ROOT, SECONDS

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SCENARIOS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SESSIONS = re.findall(r"```console\n\$ (.*?)\n(.*?)```", TEXT, re.DOTALL)

LEFT_OUT = "…"
"""A line that stands for any number of lines."""


def printed_by(command: str, folder: Path) -> list[str]:
    """The lines that a command of the README prints."""
    words = [sys.executable, *shlex.split(command)[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return [line.rstrip() for line in done.stdout.splitlines()]


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=[command for command, _ in SESSIONS])
def test_a_session_prints_what_the_readme_shows(command: str, shown: str, tmp_path: Path) -> None:
    (tmp_path / "cubes.py").write_text(SCENARIOS[0])
    printed = iter(printed_by(command, tmp_path))
    for line in shown.splitlines():
        # Searching an iterator uses it up: each line must come after the one before.
        is_there = line.rstrip() == LEFT_OUT or line.rstrip() in printed
        assert is_there, f"{line!r} is not printed, or not in this place"


def test_it_names_every_engine() -> None:
    assert all(f"`{name}`" in TEXT for name in ENGINES)


def test_every_image_is_there() -> None:
    images = re.findall(r"!\[.*?\]\((.*?)\)", TEXT)
    assert images
    assert all((ROOT / image).is_file() for image in images)


def test_make_has_every_target_that_is_named() -> None:
    targets = re.findall(r"`make (\w+)`", TEXT)
    assert {"run", "test", "app", "bench"} <= set(targets)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{target}:" in makefile for target in targets)


def test_sessions_and_the_scenario_were_found() -> None:
    assert len(SCENARIOS) == 1
    assert len(SESSIONS) == 6
