"""The README does what it says: its program runs, and prints what it shows."""

import re
from pathlib import Path

import pytest

from explorer.documents.contents import contents
from explorer.documents.markdown import embedded
from tests.support.command_line import ROOT, python
from tests.support.sessions import comparable
from tests.support.standard_engines import ENGINES

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
((PROGRAM, ANSWER),) = re.findall(
    r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", TEXT, re.DOTALL
)

NETS = {
    "__init__.py": "",
    "in_torch.py": """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(3, 2)
        self.gelu = nn.GELU()

    def forward(self, x):
        hidden = self.gelu(self.dense(x))
        return (hidden**2).mean()
""",
    "in_mindspore.py": """\
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)
        self.gelu = nn.GELU()

    def construct(self, x):
        hidden = self.gelu(self.dense(x))
        return (hidden**2).mean()
""",
}
"""The package that the program names: a net and its wrong port."""


def run_program(folder: Path, nets: dict[str, str]) -> str:
    """What the program prints beside a package with these files."""
    package = folder / "my_nets"
    package.mkdir()
    for name, text in nets.items():
        (package / name).write_text(text, encoding="utf-8")
    return python("-c", PROGRAM, cwd=folder)


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
def test_its_program_prints_the_line_of_the_port_that_is_wrong(tmp_path: Path) -> None:
    assert comparable(run_program(tmp_path, NETS)) == comparable(ANSWER)


@pytest.mark.parametrize("file", ["in_torch.py", "in_mindspore.py"])
def test_the_line_is_where_it_says_in_both_files(file: str) -> None:
    (line,) = {int(number) for number in re.findall(rf"my_nets/{file}:(\d+)", ANSWER)}
    code = NETS[file].splitlines()[line - 1].strip()
    assert f"Line {line} is the same in both files, `{code}`" in TEXT


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
def test_what_it_advises_mends_the_port(tmp_path: Path) -> None:
    (advice,) = re.findall(r"with `(.*?)` in the port", TEXT)
    mended = NETS["in_mindspore.py"].replace("nn.GELU()", advice)
    printed = run_program(tmp_path, {**NETS, "in_mindspore.py": mended})
    assert ".py:" not in printed  # no line is named any more


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(TEXT.splitlines()) <= 120
    assert len(PROGRAM.splitlines()) <= 8


@pytest.mark.whole
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


@pytest.mark.parametrize(
    ("page", "least"),
    [("README.md", {"app"}), ("docs/how-to/install.md", {"run", "test", "app", "bench"})],
)
def test_make_has_every_target_that_is_named(page: str, least: set[str]) -> None:
    targets = re.findall(r"`make (\w+)`", (ROOT / page).read_text(encoding="utf-8"))
    assert least <= set(targets)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{target}:" in makefile for target in targets)
