"""Nets whose parameters have other names, shapes and pieces, compared without a map of names."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.findings import PackedParameters, PairedParameters
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.scenario_files import written
from tests.support.two_sided import Side, normal, scenario_text

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


@pytest.fixture(scope="module")
def packed(workers: Workers) -> Report:
    scenario = load(NETS / "packed_projections.py")
    return explore(scenario, workers, graphs=False, selection="main")


def test_packed_projections_start_alike_and_are_compared(packed: Report) -> None:
    (case,) = packed.cases
    assert case.verdict == "match"
    assert case.oracle_agrees
    names = [leaf.name for leaf in case.results["mindspore-graph"].leaves]
    assert names == [leaf.name for leaf in case.results["torch-tape"].leaves]
    assert {"dfirst.in_proj.weight", "dsecond.query.bias"} <= set(names)


def test_what_was_paired_and_packed_is_a_remark(packed: Report) -> None:
    facts = {type(finding.fact): finding for finding in packed.findings}
    assert set(facts) == {PairedParameters, PackedParameters}
    assert not any(finding.is_alarm for finding in facts.values())
    paired = facts[PairedParameters].fact
    assert isinstance(paired, PairedParameters)
    assert paired.confirmed
    assert dict(paired.examples)["scale"] == "gain"


@pytest.mark.whole
@pytest.mark.parametrize("engine", ["mindspore-tape", "torch-tape"])
def test_the_listing_of_packed_nets_computes_the_same(packed: Report, engine: str) -> None:
    (case,) = packed.cases
    result = case.results[engine]
    done = subprocess.run(
        [sys.executable, "-c", result.code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = np.array(re.findall(r"-?\d+\.\d*(?:e[+-]\d+)?", done.stdout), float)
    assert len(printed)
    # Of packed parameters too; digits are rounded, and what is far inside a large tensor is left out.
    names = ("dgain", "dfirst.in_proj.weight", "dsecond.query.weight")
    leaves = [leaf for leaf in result.leaves if leaf.name in names]
    assert len(leaves) == len(names)
    for leaf in leaves:
        first = unpack(leaf.value).ravel()[0]
        assert np.abs(printed - first).min() <= 1e-3 * abs(first) + 1e-4


SWAPPED = scenario_text(
    normal(2, 3),
    Side(
        "self.left, self.right = nn.Dense(3, 3), nn.Dense(3, 3)",
        "return ops.sigmoid(self.left(x)) * self.right(x)",
    ),
    Side(
        "self.up, self.gate = nn.Linear(3, 3), nn.Linear(3, 3)",
        "return torch.sigmoid(self.gate(x)) * self.up(x)",
    ),
    head="",
)


@pytest.mark.whole
def test_branches_of_one_shape_declared_in_another_order_are_paired_by_value(
    workers: Workers, tmp_path: Path
) -> None:
    scenario = load(written(tmp_path, SWAPPED))
    report = explore(scenario, workers, graphs=False, selection="main")
    (case,) = report.cases
    assert case.verdict == "match"
    (finding,) = report.findings
    assert isinstance(finding.fact, PairedParameters)
    assert dict(finding.fact.examples) == {"left": "gate", "right": "up"}
    assert set(finding.fact.ways) == {"value"}
