"""The tutorial does what it says, in English and in 中文: its commands run, and print what it shows."""

import re
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.sessions import SESSION, Session, assert_prints

PAGES = {"en": ROOT / "docs" / "tutorial.md", "zh": ROOT / "docs" / "zh" / "tutorial.md"}

FIGURE = re.compile(r"\d[\w.,]*\w|\d")

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

TEXTS = {language: page.read_text(encoding="utf-8") for language, page in PAGES.items()}
TEXT = TEXTS["en"]
(PORT,) = re.findall(r'```python title="my_net.py"\n(.*?)```', TEXT, re.DOTALL)
WRONG = "nn.GELU()"
MENDED = "nn.GELU(approximate=False)"

HEADINGS = {"en": "\n## Mend it\n", "zh": "\n## 改正\n"}
"""The sessions under it run what is mended, those before it what is not."""

OPTIONS = {"en": "", "zh": " --lang zh"}
"""What the commands of a page end with, so that they print its language."""


def steps(language: str) -> list[tuple[bool, Session]]:
    """The sessions of a page, and whether each runs what is mended."""
    before, after = TEXTS[language].split(HEADINGS[language])
    sessions = [(False, Session(*shown)) for shown in SESSION.findall(before)]
    return sessions + [(True, Session(*shown)) for shown in SESSION.findall(after)]


STEPS = [*steps("en"), *steps("zh")]


def mended(port: str) -> str:
    """The file once the port, its second net, has what the tutorial advises."""
    before, _, after = port.rpartition(WRONG)
    return f"{before}{MENDED}{after}"


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize(("is_mended", "session"), STEPS)
@pytest.mark.usefixtures("warm")
def test_a_session_prints_what_the_tutorial_shows(
    is_mended: bool,
    session: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "my_net.py").write_text(mended(PORT) if is_mended else PORT)
    monkeypatch.chdir(tmp_path)
    assert_prints(session, monkeypatch, capfd)


def test_it_opens_with_a_wrong_line_and_ends_with_the_styles() -> None:
    for language, option in OPTIONS.items():
        commands = []
        for _, session in steps(language):
            assert session.command.endswith(option)
            command = session.command.removeprefix("python -m explorer ")
            commands.append(command.removesuffix(option))
        assert commands == [
            "scenario my_net.py",
            "diff my_net.py torch-tape mindspore-graph",
            "diff my_net.py torch-tape mindspore-graph",
            "scenario my_net.py",
            "scenario aliased_input",
        ]


def test_both_lines_are_where_the_text_says() -> None:
    lines = PORT.splitlines()
    named = {int(number) for number in re.findall(r"my_net\.py:(\d+)", TEXT)}
    assert named == {number for number, line in enumerate(lines, 1) if "self.gelu(" in line}
    assert "Lines {} and {} read the same".format(*sorted(named)) in TEXT
    assert MENDED in TEXT
    assert PORT.count(WRONG) == 2


def test_the_picture_is_of_the_file_that_is_shown() -> None:
    assert (ROOT / "docs" / "my_net.py").read_text(encoding="utf-8") == PORT


def test_both_languages_show_the_same_code() -> None:
    english = SESSION.sub("", TEXT)
    chinese = SESSION.sub("", TEXTS["zh"]).replace("\n../my_net.py\n", "\nmy_net.py\n")
    assert CODE.findall(chinese) == CODE.findall(english)
    assert len(CODE.findall(english)) == 3


def test_a_chinese_session_shows_as_much_as_the_english_one() -> None:
    pairs = list(zip(steps("en"), steps("zh"), strict=True))
    for (mended_in_english, english), (mended_in_chinese, chinese) in pairs:
        assert mended_in_chinese == mended_in_english
        assert chinese.command == english.command + OPTIONS["zh"]
        # Figures and places of lines are the same; Chinese lines are shorter.
        assert sorted(FIGURE.findall(chinese.shown)) == sorted(FIGURE.findall(english.shown))
        assert re.search("[一-鿿]", chinese.shown)
