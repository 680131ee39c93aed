"""The program in messages, as its user typed it."""

import sys

import pytest

from explorer.text.program_name import program


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("/usr/bin/explorer", "explorer"),
        ("explorer", "explorer"),
        ("/site-packages/explorer/__main__.py", "python -m explorer"),
        ("tests/run.py", "python -m explorer"),
        ("", "python -m explorer"),
    ],
)
def test_commands_begin_as_the_one_that_was_typed(
    typed: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [typed, "scenario"])
    assert program() == shown
