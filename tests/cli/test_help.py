"""Help: every command explains itself, and nothing heavy is loaded for it."""

import re
import subprocess
import sys

import pytest
from typer.main import get_group

from explorer.cli import commands
from explorer.cli.entry import run
from explorer.cli.help_pages import columns, wrapped
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
        "train",
        "run",
        "study",
        "claims",
        "correspond",
        "sweep",
        "fuzz",
        "embed",
        "doctor",
        "env",
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


# Help in Chinese

ENGLISH = re.compile(r"[A-Za-z]{2,},? [a-z]{2,} [a-z]{2,}|\b(the|is|are|of|with|for|and|all the)\b")
"""Three English words in a row, or one that nearly every English sentence has."""

HEADING = re.compile(r"^\S+：$")


def has_chinese(text: str) -> bool:
    return any("一" <= letter <= "鿿" for letter in text)


def in_chinese(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command line prints in Chinese."""
    assert run([*arguments, "--lang", "zh"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("width", ["60", "100"])
@pytest.mark.parametrize("command", ["", *commands.names()])
def test_the_help_of_every_command_is_whole_in_chinese(
    command: str,
    width: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    page = in_chinese([name for name in (command, "--help") if name], capsys)
    assert page.startswith(f"用法：explorer {command}".rstrip())
    assert [line for line in page.splitlines() if ENGLISH.search(line)] == []
    for paragraph in page.split("\n\n"):
        assert has_chinese(paragraph)
    english = {text for text in texts_of(command) if text in page}
    assert english == set()


def texts_of(command: str) -> set[str]:
    """The English texts of a command's help."""
    group = get_group(commands.app)
    shown = group.commands[command] if command else group
    texts = {*(shown.help or "").split("\n\n"), shown.epilog or ""}
    texts.update(getattr(parameter, "help", None) or "" for parameter in shown.params)
    return texts - {""}


@pytest.mark.parametrize("command", ["", *commands.names()])
def test_explanations_begin_in_one_column_though_chinese_is_twice_as_wide(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = in_chinese([name for name in (command, "--help") if name], capsys)
    for section in page.split("\n\n"):
        heading, *rows = section.splitlines()
        if not HEADING.match(heading):
            continue
        starts = set()
        for row in rows:
            assert columns(row) <= 80
            gap = re.search(r"(?<=\S)  +(?=\S)|^ {4,}(?=\S)", row)
            if gap:
                starts.add(columns(row[: gap.end()]))
        assert len(starts) == 1


@pytest.mark.parametrize("arguments", [["--lang", "zh", "diff", "-h"], ["diff", "--lang=zh", "-h"]])
def test_the_language_of_the_help_may_be_named_anywhere(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 0
    assert "找出两个引擎的梯度图的首个分歧点。" in capsys.readouterr().out


def test_the_help_says_defaults_and_what_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    page = in_chinese(["graph", "--help"], capsys)
    assert "[默认：60.0]" in page
    assert "要写入的文件；其文件夹必须存在。[必填]" in page
    assert "<str>" not in page


def test_lines_of_chinese_begin_with_no_closing_punctuation() -> None:
    text = "运行的设备：cpu、cuda[:N]、mps、npu[:N]，或 auto（各框架可用的最佳设备）。[默认：cpu]"
    for width in range(12, 60):
        lines = wrapped(text, width)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert not any(line[0] in "，。、；：）]" for line in lines)
        assert not any(line[-1] in "（[" for line in lines)
        assert max(columns(line) for line in lines) <= width + 2


def test_a_chinese_character_takes_two_columns() -> None:
    assert columns("求导 ab，") == 9
