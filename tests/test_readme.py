"""The README does what it says: its commands run, and print what it shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.documents.contents import contents
from explorer.documents.markdown import embedded
from explorer.model.engines import ENGINES
from tests.support.command_line import ROOT
from tests.support.sessions import SESSION, Session, assert_prints

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SCENARIOS = [text for text in PYTHON if text.startswith('"""')]
PROGRAMS = [text for text in PYTHON if text not in SCENARIOS]
SESSIONS = [Session(*found) for found in SESSION.findall(TEXT)]


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("session", SESSIONS, ids=[session.command for session in SESSIONS])
@pytest.mark.usefixtures("warm")
def test_a_session_prints_what_the_readme_shows(
    session: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "cubes.py").write_text(SCENARIOS[0])
    monkeypatch.chdir(tmp_path)
    assert_prints(session, monkeypatch, capfd)


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.whole
@pytest.mark.parametrize("program", PROGRAMS)
def test_its_programs_run(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


@pytest.mark.mindspore
@pytest.mark.torch
def test_its_blocks_are_as_they_should_be() -> None:
    document = embedded(ROOT / "README.md", contents)
    assert document.text == TEXT
    assert len(document.files) == 2
    for path, content in document.files.items():
        assert path.read_bytes() == content


def test_it_names_every_engine() -> None:
    assert all(f"`{name}`" in TEXT for name in ENGINES)


def test_every_image_is_there() -> None:
    images = re.findall(r'(?:src|srcset)="(.*?)"', TEXT)
    assert images
    assert all((ROOT / image).is_file() for image in images)


def test_make_has_every_target_that_is_named() -> None:
    targets = re.findall(r"`make (\w+)`", TEXT)
    assert {"run", "test", "app", "bench"} <= set(targets)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{target}:" in makefile for target in targets)


def test_sessions_and_the_scenario_were_found() -> None:
    assert (len(SCENARIOS), len(PROGRAMS)) == (1, 1)
    assert len(SESSIONS) == 6
