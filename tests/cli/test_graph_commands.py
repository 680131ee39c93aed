"""The ``graph`` command: graphs of one case as a file."""

import json
from pathlib import Path

import pytest

from explorer.cli.entry import run
from explorer.model.cases import GradCase
from tests.support.nets import NETS

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


@pytest.mark.usefixtures("warm")
def test_graph_writes_the_file_asked_for_of_one_engine_or_of_two(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "square.json"
    command = ["graph", str(NETS / "square.py"), "--case", "grad(0)", "--engine", "torch-tape"]
    assert run([*command, "-o", str(file)]) == 0
    assert capfd.readouterr().out == f"wrote {file}\n"
    document = json.loads(file.read_text())
    assert (document["engine"], document["case"]) == ("torch-tape", GradCase("grad", 0).label)
    assert {node["phase"] for node in document["nodes"]} == {"forward", "backward"}
    assert run([*command, "--engine", "mindspore-tape", "-o", str(tmp_path / "two.svg")]) == 0
    picture = (tmp_path / "two.svg").read_text()
    assert "mindspore-tape · grad(net" in picture
    assert "torch-tape · grad(net" in picture
