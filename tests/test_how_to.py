"""The code of the how-to pages about one's own nets runs as it stands."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.support.command_line import ROOT, environment, python, ran
from tests.support.own_package import write_package

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]


def blocks(page: str) -> list[str]:
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


COMMANDS = {
    f"{page.stem}-{number}": block
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for number, block in enumerate(
        re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    )
}
"""The commands of the pages, in the shell's own language."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_package(tmp_path)


def test_the_nets_of_one_s_own_are_compared_as_the_page_does(folder: Path) -> None:
    program = folder / "program.py"
    program.write_text("\n".join(blocks("own-nets.md")))
    python(program, cwd=folder)
    assert "<svg" in (folder / "port.svg").read_text()
    assert "ported_nets" in (folder / "port.html").read_text()


def test_the_test_of_the_page_passes(folder: Path) -> None:
    (test,) = blocks("pytest.md")
    (folder / "test_port.py").write_text(test)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "explorer.pytest_plugin")
    done = ran(*command, cwd=folder, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_the_commands_of_the_pages_end_as_they_should(name: str, tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    (tmp_path / "out").mkdir()
    own = environment(PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    done = ran("bash", "-e", "-c", COMMANDS[name], cwd=tmp_path, env=own, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_on_causes_shows_what_is_there_and_what_it_prints(tmp_path: Path) -> None:
    net, *shown = blocks("cause.md")
    source = (ROOT / "explorer/compare/causes/candidates.py").read_text(encoding="utf-8")
    assert all(block.strip() in source for block in shown)
    (tmp_path / "gate.py").write_text(net)
    page = (ROOT / "docs/how-to/cause.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"```text\npython -m (.*?)\n```", page)
    (sentence,) = re.findall(r"^> (.*)$", page, re.MULTILINE)
    done = ran(sys.executable, "-m", *command.split(), cwd=tmp_path, check=False)
    assert sentence in done.stdout, done.stdout + done.stderr


def test_there_are_commands() -> None:
    assert {"devices-0", "devices-1", "many-0", "many-1", "many-2"} <= set(COMMANDS)
