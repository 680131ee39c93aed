"""The language of the shell command."""

import pytest

from explorer.cli.entry import divided, run
from explorer.model.errors import UsageError
from explorer.text.language import VARIABLE, code


@pytest.fixture(autouse=True)
def no_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that asks for no language."""
    for name in (VARIABLE, "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("arguments", "language", "rest"),
    [
        (["scenario"], "en", ["scenario"]),
        (["--lang", "zh", "scenario", "x"], "zh", ["scenario", "x"]),
        (["scenario", "x", "--lang=zh"], "zh", ["scenario", "x"]),
        (["--lang=zh", "diff", "--lang", "en", "x"], "en", ["diff", "x"]),
    ],
)
def test_the_option_may_come_before_the_command_or_after_it(
    arguments: list[str], language: str, rest: list[str]
) -> None:
    assert divided(arguments) == (language, rest)


def test_the_option_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "zh")
    assert divided(["scenario"])[0] == "zh"
    assert divided(["scenario", "--lang", "en"])[0] == "en"


@pytest.mark.parametrize("arguments", [["--lang"], ["--lang", "fr", "scenario"], ["--lang=", "x"]])
def test_a_language_that_there_is_not_is_refused(arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="en"):
        divided(arguments)


def test_a_wrong_language_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["scenario", "--lang", "fr"]) == 2
    assert capsys.readouterr().err == (
        "explorer: unknown language 'fr' in --lang; allowed: en, zh\n"
    )
    monkeypatch.setenv(VARIABLE, "xx")
    assert run(["scenario"]) == 2
    assert f"'xx' in {VARIABLE}" in capsys.readouterr().err
    # An unknown one is refused in that of the environment.
    monkeypatch.setenv(VARIABLE, "zh")
    assert run(["scenario", "--lang", "fr"]) == 2
    assert capsys.readouterr().err == "explorer: --lang 给出了未知的语言 'fr'；可用：en、zh\n"


def test_the_help_names_the_option_and_a_run_leaves_no_language_behind(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["--help", "--lang", "zh"]) == 0
    assert "--lang" in capsys.readouterr().out
    assert code() == "en"
