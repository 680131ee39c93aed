"""The ``app`` command: which program it becomes, and what it says without Streamlit."""

import importlib.util
import os
import socket
import sys
from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.web.offered_scenarios import VARIABLE
from tests.support.scenario_files import MINIMAL, written


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The programs that this process would have become."""
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, command: started.append(command))
    return started


def test_it_becomes_streamlit_with_the_options_given(commands: list[list[str]]) -> None:
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


def test_files_and_folders_are_told_from_streamlit_s_options(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, "/configured")
    file = written(tmp_path, MINIMAL, "net.py")
    monkeypatch.chdir(tmp_path)
    run(["app", "--server.port", "8599", "net.py", "--server.headless=true", str(tmp_path)])
    assert commands[0][5:] == ["--server.port", "8599", "--server.headless=true"]
    assert os.environ[VARIABLE].split(os.pathsep) == [str(file), str(tmp_path), "/configured"]


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_the_explorer_s_own_and_says_how_to_see_streamlit_s(
    option: str, commands: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["app", option]) == 0
    assert commands == []
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Usage: explorer app [OPTIONS] [FILE_OR_FOLDER]...")
    assert ".py files, or folders of .py files" in said
    assert "python -m streamlit run --help" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--server.port", "65536"],
            "--server.port must be from 0 (any free port) to 65535, got 65536",
        ),
        (["--server.port=-1"], "--server.port must be from 0 (any free port) to 65535, got -1"),
        (["--server.port", "abc"], "'abc' is not a valid integer"),
        (["--server.port"], "requires an argument"),
        (["--server.address", "999.1.1.1"], "'999.1.1.1' is not an address of this machine"),
        (["--server.address", "x" * 70], "is not an address of this machine"),
        (["--server.address", "::1", "--server.port", "65536"], "to 65535, got 65536"),
        (["--server.cookieSecret=x"], "'server.cookieSecret' option using the CLI flag is not"),
        (["nowhere.py"], "nowhere.py"),
        (["notes.txt"], ".py"),
        (["nowhere"], ".py"),
    ],
)
def test_what_could_not_be_served_is_refused_in_a_line_of_our_own(
    options: list[str],
    said: str,
    commands: list[list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    written(tmp_path, "", "notes.txt")
    monkeypatch.chdir(tmp_path)
    assert run(["app", *options]) == 2
    assert commands == []
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("explorer: ")
    assert said in line
    assert "Usage:" not in line


def test_a_port_that_is_taken_is_left_to_streamlit(commands: list[list[str]]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = ["--server.address", "127.0.0.1", "--server.port", str(taken.getsockname()[1])]
        run(["app", *options])
    assert commands[0][5:] == options
