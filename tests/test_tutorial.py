"""The tutorial does what it says, in English and in 中文: its commands run, and print what it shows."""

import re
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.sessions import SESSION, Session, assert_prints

PAGES = {"en": ROOT / "docs" / "tutorial.md", "zh": ROOT / "docs" / "zh" / "tutorial.md"}

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

TEXT = PAGES["en"].read_text(encoding="utf-8")
(PORT,) = re.findall(r'```python title="my_net.py"\n(.*?)```', TEXT, re.DOTALL)
WRONG = "nn.GELU()"
MENDED = "nn.GELU(approximate=False)"

HEADING = "\n## Mend it\n"
"""The sessions under it run what is mended, those before it what is not."""

STEPS = [
    (is_mended, Session(*shown))
    for is_mended, text in enumerate(TEXT.split(HEADING))
    for shown in SESSION.findall(text)
]


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
    commands = [session.command.removeprefix("python -m explorer ") for _, session in STEPS]
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
    chinese = PAGES["zh"].read_text(encoding="utf-8").replace("\n../my_net.py\n", "\nmy_net.py\n")
    assert CODE.findall(chinese) == CODE.findall(TEXT)
