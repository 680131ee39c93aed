"""The ``app`` command: which program it becomes, and what it says without Streamlit."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from explorer.cli.entry import run


def test_it_becomes_streamlit_with_the_options_given(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, command: commands.append(command))
    run(["app", "--server.port=8599"])
    (command,) = commands
    assert command[:4] == [sys.executable, "-m", "streamlit", "run"]
    entry, option = command[4:]
    assert option == "--server.port=8599"
    assert Path(entry).is_file()
    assert (Path(entry).parent / ".streamlit" / "config.toml").is_file()


def test_without_streamlit_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert run(["app"]) == 3
    assert "streamlit==" in capsys.readouterr().err
