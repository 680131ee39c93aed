"""Help: every command explains itself, and nothing heavy is loaded for it."""

import subprocess
import sys

import pytest

from explorer.cli import commands
from explorer.cli.entry import run
from tests.support.command_line import ROOT


def test_it_names_every_command_and_loads_no_framework() -> None:
    code = (
        "import sys; from explorer.cli.entry import run; run(['--help']); "
        "print(sorted({'mindspore', 'torch', 'numpy', 'rich', 'streamlit'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(f"  {name} " in done.stdout for name in commands.names())
    assert commands.names() == [
        "scenario",
        "graph",
        "diff",
        "study",
        "claims",
        "sweep",
        "fuzz",
        "embed",
        "doctor",
        "warm",
        "cache",
        "app",
    ]


@pytest.mark.parametrize("command", commands.names())
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: explorer " + command)


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "Commands:" in capsys.readouterr().out
