"""The surprises of the documentation: what their reproducers show, against closed forms."""

import os
import subprocess
import sys

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.report import Report
from explorer.numeric.differences import Floats
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.command_line import ROOT
from tests.support.scenario_reports import FLOAT32, MINDSPORE, TORCH

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

FOLDER = ROOT / "docs" / "surprises"

SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772
"""λ and α of SELU (Klambauer et al., Self-Normalizing Neural Networks, 2017)."""


def gradients(report: Report, name: str) -> dict[str, Floats]:
    """What each engine returns under a name in the only case that was asked."""
    (case,) = report.cases
    found = {}
    for engine, result in case.results.items():
        (leaf,) = (leaf for leaf in result.leaves if leaf.name == name)
        found[engine] = unpack(leaf.value).astype(np.float64)
    return found


def widest_case(workers: Workers, name: str) -> Report:
    return explore(load(FOLDER / f"{name}.py"), workers, selection="main")


def test_the_gradient_of_selu_is_right_in_pytorch_alone(workers: Workers) -> None:
    report = widest_case(workers, "selu")
    x = np.array([-2.0, -0.5, 0.5, 2.0])
    forward = SCALE * np.where(x > 0, x, ALPHA * (np.exp(x) - 1))
    right = SCALE * np.where(x > 0, 1, ALPHA * np.exp(x))
    wrong = SCALE * np.where(x > 0, 1, forward + 1)
    found = gradients(report, "dx")
    for engine in TORCH:
        np.testing.assert_allclose(found[engine], right, rtol=FLOAT32)
    for engine in MINDSPORE:
        np.testing.assert_allclose(found[engine], wrong, rtol=FLOAT32)
    assert all(case.expected for case in report.cases)


def test_a_label_s_gradient_is_minus_the_logit_and_zero_in_mindspore(workers: Workers) -> None:
    report = widest_case(workers, "label_gradient")
    logits = np.array([-2.0, -0.5, 0.5, 2.0])
    found = gradients(report, "dy")
    for engine in TORCH:
        np.testing.assert_allclose(found[engine], -logits, rtol=FLOAT32)
    for engine in MINDSPORE:
        assert not found[engine].any()


def test_the_operators_that_are_said_to_have_no_kernel_raise() -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "missing_kernels.py")],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env={**os.environ, "GLOG_v": "4"},
    )
    lines = done.stdout.splitlines()
    page = (ROOT / "docs" / "surprises.md").read_text(encoding="utf-8")
    assert len(lines) == 4
    for line in lines:
        operator, outcome = line.split(": ", maxsplit=1)
        assert f"`{operator}`" in page
        assert outcome.startswith("RuntimeError")
