"""The exit code of ``diff`` and its first lines: what the two engines say, and the oracle of both."""

import json
from pathlib import Path

import pytest

from explorer.cli.entry import run
from tests.support.scenario_files import written

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.usefixtures("warm")]

SCALED = """
import numpy as np


def inputs():
    return {"x": np.array([1.0, 2.0], np.float32)}


def mindspore_net():
    return scaled


def scaled(x):
    return (3.0 * x * x).sum()


def torch_net():
    return lambda x: (2.0 * x * x).sum()
"""


def test_results_that_differ_exit_with_1_and_are_the_first_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = str(written(tmp_path, SCALED, "scaled.py"))
    assert run(["diff", file, "torch-tape", "mindspore-tape"]) == 1
    _, headline, *_ = capfd.readouterr().out.splitlines()
    assert "torch-tape differs from mindspore-tape by up to 4 at dx[1]" in headline
    assert run(["diff", file, "torch-tape", "mindspore-tape", "--json"]) == 1
    document = json.loads(capfd.readouterr().out)
    assert (document["left"], document["right"]) == ("torch-tape", "mindspore-tape")
    assert document["divergence"]["sentence"]
