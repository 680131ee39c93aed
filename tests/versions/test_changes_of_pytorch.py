"""Gradients that releases of PyTorch changed, in the environments that EXPLORER_TORCH_PYTHONS names.

These are the paths of two or more Python executables, separated as in PATH, each with a PyTorch,
numpy and msgspec.
"""

import os
import subprocess
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.arrays import unpack
from explorer.model.graph import GradGraph
from explorer.model.results import Captured
from tests.support.engine_requests import TORCH_ENGINES, compared
from tests.support.scenario_files import function_net
from tests.versions.captures import Captures
from tests.versions.changes import CHANGES, Change, Version

PYTHONS = list(filter(None, os.environ.get("EXPLORER_TORCH_PYTHONS", "").split(os.pathsep)))
ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    len(PYTHONS) < 2, reason="EXPLORER_TORCH_PYTHONS names fewer than two executables"
)

Environments = dict[Version, Captures]


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Environments:
    """What the captures of each environment show, by the version of PyTorch."""
    folder = tmp_path_factory.mktemp("nets")
    files = []
    for change in CHANGES:
        inputs = {name: f"np.array({it}, np.float32)" for name, it in change.inputs.items()}
        files.append(function_net(folder, change.code, file=f"{change.net}.py", **inputs))
    shown: Environments = {}
    for python in PYTHONS:
        command = [python, "-m", "tests.versions.captures", *map(str, files)]
        variables = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, check=True, env=variables, cwd=ROOT)
        captures = msgspec.msgpack.decode(done.stdout, type=Captures)
        major, minor, *_ = captures.version.split(".")
        shown[int(major), int(minor)] = captures
    return shown


def gradient(captured: Captured, name: str) -> list[float]:
    (leaf,) = (leaf for leaf in captured.result.leaves if leaf.name == name)
    numbers: list[float] = unpack(leaf.value).ravel().tolist()
    return numbers


def graph_of(captures: Captures, net: str, engine: str) -> GradGraph:
    return compared(captures.captured[engine][net])


def is_changed(change: Change, version: Version) -> bool | None:
    """Whether a version has a change; None between the versions that were seen."""
    if version <= change.last:
        return False
    return True if version >= change.first else None


@pytest.mark.parametrize("engine", TORCH_ENGINES)
@pytest.mark.parametrize("change", CHANGES, ids=[change.net for change in CHANGES])
def test_each_version_gives_the_gradient_of_its_side(
    environments: Environments, change: Change, engine: str
) -> None:
    for version, captures in environments.items():
        side = is_changed(change, version)
        if side is not None:
            numbers = gradient(captures.captured[engine][change.net], change.leaf)
            expected = change.after if side else change.before
            np.testing.assert_allclose(numbers, expected, rtol=1e-6, err_msg=str(version))


@pytest.mark.parametrize("engine", TORCH_ENGINES)
@pytest.mark.parametrize("change", CHANGES, ids=[change.net for change in CHANGES])
def test_two_versions_part_first_at_the_op_that_changed_and_only_where_one_did(
    environments: Environments, change: Change, engine: str
) -> None:
    for older, newer in combinations(sorted(environments), 2):
        sides = is_changed(change, older), is_changed(change, newer)
        if None in sides:
            continue
        left, right = (graph_of(environments[it], change.net, engine) for it in (older, newer))
        divergence = align(left, right).divergence
        if sides[0] == sides[1]:
            assert divergence is None, (older, newer)
        else:
            assert any(op in str(divergence) for op in change.ops), (older, newer, divergence)


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_no_value_of_any_version_is_refuted(environments: Environments, engine: str) -> None:
    for version, captures in environments.items():
        for name, captured in captures.captured[engine].items():
            proofs = {node.proof for node in compared(captured).nodes if node.kind == "op"}
            assert "proven" in proofs, (version, name)
            assert "refuted" not in proofs, (version, name)
