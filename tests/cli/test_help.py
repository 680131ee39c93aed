"""Help: every command explains itself, in both languages."""

import re

import pytest
from typer.main import get_group

from explorer.cli import commands
from explorer.cli.entry import run
from explorer.cli.help_pages import columns, wrapped

# Help in Chinese

ENGLISH = re.compile(r"[A-Za-z]{2,},? [a-z]{2,} [a-z]{2,}|\b(the|is|are|of|with|for|and|all the)\b")
"""Three English words in a row, or one that nearly every English sentence has."""

HEADING = re.compile(r"^\S+：$")

BEFORE_EXPLANATION = re.compile(r"(?<=\S)  +(?=\S)|^ {4,}(?=\S)")


def in_chinese(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command line prints in Chinese."""
    assert run([*arguments, "--lang", "zh"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["", *commands.names()])
def test_the_help_of_every_command_is_whole_in_chinese_in_columns_that_fit(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    group = get_group(commands.app)
    shown = group.commands[command] if command else group
    english = {*(shown.help or "").split("\n\n"), shown.epilog or ""}
    english.update(getattr(parameter, "help", None) or "" for parameter in shown.params)
    arguments = [name for name in (command, "--help") if name]
    assert run(arguments) == 0
    assert capsys.readouterr().out.startswith(f"Usage: explorer {command}".rstrip())
    for width in (60, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        page = in_chinese(arguments, capsys)
        assert page.startswith(f"用法：explorer {command}".rstrip())
        assert [line for line in page.splitlines() if ENGLISH.search(line)] == []
        for paragraph in page.split("\n\n"):
            assert re.search("[一-鿿]", paragraph)
            heading, *rows = paragraph.splitlines()
            if HEADING.match(heading):
                # Explanations begin in one column, though Chinese is twice as wide.
                gaps = filter(None, map(BEFORE_EXPLANATION.search, rows))
                assert len({columns(gap.string[: gap.end()]) for gap in gaps}) == 1
                assert width < 100 or max(map(columns, rows)) <= width
        assert [text for text in english if text and text in page] == []


def test_the_help_says_defaults_and_what_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    page = in_chinese(["graph", "-h"], capsys)
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
    # A Chinese character takes two columns.
    assert columns("求导 ab，") == 9
