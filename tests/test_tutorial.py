"""The tutorial does what it says, in English and in 中文: its commands run, and print what it shows."""

import re
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.sessions import SESSION, Session, assert_prints

PAGES = {"en": ROOT / "docs" / "tutorial.md", "zh": ROOT / "docs" / "zh" / "tutorial.md"}

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

TEXT = PAGES["en"].read_text(encoding="utf-8")
SESSIONS = [Session(*found) for found in SESSION.findall(TEXT)]
(PORT,) = re.findall(r'```python title="port.py"\n(.*?)```', TEXT, re.DOTALL)


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("session", SESSIONS, ids=[session.command for session in SESSIONS])
@pytest.mark.usefixtures("warm")
def test_a_session_prints_what_the_tutorial_shows(
    session: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "port.py").write_text(PORT)
    (tmp_path / "fixed.py").write_text(PORT.replace("axis=0", "axis=-1"))
    monkeypatch.chdir(tmp_path)
    assert_prints(session, monkeypatch, capfd)


def test_there_are_sessions_and_both_lines_are_where_the_text_says() -> None:
    assert len(SESSIONS) == 5
    lines = PORT.splitlines()
    assert "torch.softmax" in lines[27]
    assert "ops.softmax" in lines[44]


def test_both_languages_show_the_same_code() -> None:
    blocks = {code: CODE.findall(page.read_text(encoding="utf-8")) for code, page in PAGES.items()}
    assert blocks["zh"] == blocks["en"]
