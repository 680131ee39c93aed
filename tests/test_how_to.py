"""The code of the how-to pages about one's own nets runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.own_package import write_package

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def blocks(page: str) -> list[str]:
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return write_package(tmp_path)


def test_the_nets_of_one_s_own_are_compared_as_the_page_does(folder: Path) -> None:
    program = folder / "program.py"
    program.write_text("\n".join(blocks("own-nets.md")))
    subprocess.run([sys.executable, program], cwd=folder, check=True)
    assert "<svg" in (folder / "port.svg").read_text()
    assert "ported_nets" in (folder / "port.html").read_text()


@pytest.mark.whole
def test_the_test_of_the_page_passes(folder: Path) -> None:
    (test,) = blocks("pytest.md")
    (folder / "test_port.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "explorer.pytest_plugin"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
