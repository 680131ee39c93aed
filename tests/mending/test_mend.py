"""The patch that makes two nets give the same: changes run in a copy, shown where they are proven."""

import json
import subprocess
from pathlib import Path

import pytest

from explorer.cli.entry import run
from tests.support.scenario_files import text_of
from tests.support.twin_nets import in_mindspore

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.usefixtures("warm")]

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 6)  # größer
        self.norm = nn.LayerNorm((6,), eps=1e-5)
        self.second = nn.Linear(6, 3)

    def forward(self, x, y):
        h = torch.relu(self.norm(self.first(x)))
        out = self.second(h)
        return ((out - y) ** 2).mean(dim=1).sum()

return Net()
"""

INPUTS = """
draw = np.random.default_rng(0)
return {"x": draw.normal(size=(5, 4)).astype(np.float32), "y": draw.normal(size=(5, 3)).astype(np.float32)}
"""


def port(path: Path, *mistakes: tuple[str, str], end: str = "\n") -> Path:
    """A file with a net and its port to MindSpore, in which pieces of text are others."""
    own = in_mindspore(NET).replace("eps=1e-5", "epsilon=1e-5").replace("dim=1", "axis=1")
    for right, wrong in mistakes:
        assert right in own
        own = own.replace(right, wrong)
    text = text_of("import numpy as np", INPUTS, {"mindspore": own, "torch": NET})
    path.write_bytes(text.replace("\n", end).encode())
    return path


MISTAKES = {
    "epsilon": (", epsilon=1e-5", ""),
    "order": ("ops.relu(self.norm(self.first(x)))", "self.norm(ops.relu(self.first(x)))"),
    "sign": ("out - y", "out + y"),
    "axis": ("mean(axis=1)", "mean(axis=0)"),
    "operator": ("ops.relu(", "ops.tanh("),
    "left out": ("ops.relu(self.norm(self.first(x)))", "self.norm(self.first(x))"),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(it, marks=() if it == "epsilon" else pytest.mark.whole) for it in MISTAKES],
)
def test_a_mistake_is_mended_by_a_patch_that_git_takes_and_that_makes_both_equal(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = port(tmp_path / "port.py", MISTAKES[name])
    before = file.read_bytes()
    assert run(["mend", "port.py"]) == 0
    patch = capsys.readouterr().out
    assert file.read_bytes() == before
    assert "no divergence" in patch
    subprocess.run(["git", "apply", "-"], input=patch, text=True, check=True, cwd=tmp_path)
    changed = [it for it in patch.splitlines() if it[:1] in "+-" and it[:3] not in ("+++", "---")]
    assert len(changed) == 2, "one line is another"
    assert run(["diff", "port.py", "torch-tape", "mindspore-tape"]) == 0


@pytest.mark.whole
def test_two_mistakes_are_mended_together_in_a_file_with_the_line_ends_of_windows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = port(tmp_path / "port.py", MISTAKES["epsilon"], MISTAKES["sign"], end="\r\n")
    right = port(tmp_path / "right.py", end="\r\n").read_bytes()
    assert run(["mend", "port.py", "--apply", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["proof"]["matching"] == document["proof"]["cases"] > 10
    assert file.read_bytes().count(b"\r\n") == right.count(b"\r\n")
    assert b"out - y" in file.read_bytes()
    assert run(["mend", "port.py"]) == 0
    assert capsys.readouterr().out.startswith("nothing to mend")


@pytest.mark.whole
def test_what_no_small_change_mends_is_said_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = "return (ops.cos(out * 3.7) * ops.exp(y)).sum() + (x * x * x).sum()"
    monkeypatch.setattr("explorer.mending.mend.MOST_TRIED", 40)
    file = port(tmp_path / "port.py", ("return ((out - y) ** 2).mean(axis=1).sum()", other))
    before = file.read_bytes()
    assert run(["mend", "port.py", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["patch"] is None
    assert file.read_bytes() == before
