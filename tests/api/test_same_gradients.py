"""assert_same_gradients() in a user's own tests, run by pytest outside the repository."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import explorer
from explorer.model.errors import UsageError
from explorer.scenario.own_nets import FOLDER
from tests.support.command_line import ROOT, ran
from tests.support.own_package import (
    BROKEN,
    BROKEN_LINE,
    MINDSPORE,
    MISSING,
    PACKAGE,
    RIGHT,
    WRONG,
    WRONG_LINE,
    write_package,
)

TEST = f"""
import numpy as np
import pytest

import explorer

BATCH = {{"x": np.array([[0.5, -1.0, 2.0]], np.float32), "y": np.array([[1.0]], np.float32)}}


PORTS = {{"right": "{RIGHT}", "wrong": "{WRONG}", "broken": "{BROKEN}", "missing": "{MISSING}"}}


@pytest.mark.parametrize("port", PORTS.values(), ids=PORTS)
def test_port(port):
    explorer.assert_same_gradients(mindspore="{MINDSPORE}", torch=port, inputs=BATCH, constants=("y",))
"""

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)])}
    environment.pop("PYTEST_CURRENT_TEST", None)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "explorer.pytest_plugin", *options)
    return ran(*command, cwd=folder, env=environment, check=False)


@pytest.mark.whole
def test_a_right_port_passes_and_a_wrong_one_fails_with_its_line(tmp_path: Path) -> None:
    folder = write_package(tmp_path / "own")
    (folder / "test_port.py").write_text(TEST)
    done = run_pytest(folder, "--explorer-report", "reports")
    assert done.returncode == 1, done.stderr
    assert "3 failed, 1 passed" in done.stdout
    assert f"torch_models.py:{WRONG_LINE}" in done.stdout
    assert "mindspore_models.py:11" in done.stdout
    # The failure is the assertion in the user's test, not a frame of ours.
    assert "explorer/api" not in done.stdout
    (report,) = (folder / "reports").iterdir()
    assert report.name == "test_port.py-test_port-wrong.html"
    assert str(report) in done.stdout
    assert "aten.gelu" in report.read_text()
    # A net that cannot be made is located in the user's file, and not in one that is gone by then.
    assert f"ScenarioError: {PACKAGE}/torch/models.py:{BROKEN_LINE}: the PyTorch net" in done.stdout
    assert f"ScenarioError: {MISSING}: the PyTorch net raises" in done.stdout
    assert FOLDER not in done.stdout
    assert str(ROOT) not in done.stdout
    # Without the option no report is written.
    shutil.rmtree(folder / "reports")
    done = run_pytest(folder, "-k", "wrong")
    assert "1 failed" in done.stdout
    assert "full report: " not in done.stdout
    assert not list(folder.rglob("*.html"))


@pytest.mark.usefixtures("warm")
def test_a_net_that_no_engine_differentiates_is_a_failure(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(
        "import numpy as np\n"
        "def inputs():\n    return {'x': np.ones(2, np.float32)}\n"
        "def torch_net():\n    return lambda x: x.detach().sum()\n"
    )
    with pytest.raises(AssertionError, match=r"broken(.|\n)*a patch needs two"):
        explorer.assert_same_gradients(broken, mend=True)


def test_a_net_and_factories_together_are_refused() -> None:
    with pytest.raises(UsageError, match=r"give either a net, or .*, not both"):
        explorer.assert_same_gradients("dense_mse", torch=RIGHT)
    with pytest.raises(UsageError, match="inputs is missing"):
        explorer.assert_same_gradients(torch="json:loads")
