"""Sessions of the documentation: a command after a dollar sign, and lines of what it prints."""

import re
from typing import NamedTuple

import pytest

from explorer.cli.entry import run

SESSION = re.compile(r"```console\n\$ (.*?)\n(.*?)```", re.DOTALL)

BUILD = re.compile(r"(?<=\d)\+\w+")
"""The build behind a version."""

MEASURED = re.compile(r"(?<![=\w.])\d+(?:\.\d+)?e[-+]\d+|[\d,.]+(?=\s+×|\s+倍)")
"""Noise, what is as small, and multiples of it: they depend on the order in which a processor adds."""

LEFT_OUT = "…"
"""A line that stands for any number of lines."""


class Session(NamedTuple):
    """A command, and what the page shows of its output."""

    command: str
    shown: str


def assert_prints(
    session: Session, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command prints the lines that are shown, in this order, wherever they are broken."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    program, *arguments = session.command.removeprefix("python -m ").split()
    assert program == "explorer"
    assert run(arguments) in (0, 1)
    printed = comparable(capfd.readouterr().out)
    for lines in filter(str.strip, session.shown.split(LEFT_OUT)):
        _, found, printed = printed.partition(comparable(lines))
        assert found, f"{lines!r} is not printed, or not in this place"


def comparable(text: str) -> str:
    """A text without what another machine, or build of PyTorch ("2.13.0+cpu"), changes: its lines too."""
    return "".join(MEASURED.sub("#", BUILD.sub("", text)).split())
