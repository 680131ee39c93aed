"""Nets in JAX that are modules of flax.nnx: their parameters, modes, programs, and what is refused."""

import subprocess
from pathlib import Path

import pytest

import explorer
from explorer.environments.known import home_of
from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.errors import ScenarioError, UsageError
from explorer.scenario.load import load
from explorer.workers.workers import Workers

pytestmark = [pytest.mark.jax, pytest.mark.torch]

MODULE = Path(__file__).resolve().parents[1] / "nets" / "flax_module.py"

ENGINES = ("jax-tape", "jax-graph", "torch-tape")


@pytest.fixture(scope="module", autouse=True)
def _has_flax() -> None:
    finds = "import importlib.util as u, sys; sys.exit(u.find_spec('flax') is None)"
    if subprocess.run([home_of("jax").python, "-c", finds], check=False).returncode:
        pytest.skip("flax is not installed where JAX is: `pip install flax==0.10.7`")


@pytest.mark.parametrize("trains", [False, True])
def test_a_module_starts_as_pytorch_s_net_and_gives_its_gradients(
    trains: bool, workers: Workers, tmp_path: Path
) -> None:
    path = tmp_path / "flax_net.py"
    path.write_text(f"{MODULE.read_text()}\n\nTRAIN = {trains}\n")
    report = explore(load(path), workers, engines=ENGINES, selection="main")
    (case,) = report.cases
    assert {result.outcome for result in case.results.values()} == {"ok"}
    assert case.verdict == "match"
    result = case.results["jax-tape"]
    shapes = {leaf.name: unpack(leaf.value).shape for leaf in result.leaves}
    assert shapes["dconv.weight"] == (4, 3, 3, 3)
    assert shapes["dfcs.1.weight"] == (2, 4)
    assert f"net = as_function(jax_net(), trains={trains})" in result.code


def test_nets_of_a_package_may_be_in_jax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "port.py").write_text(MODULE.read_text())
    monkeypatch.syspath_prepend(tmp_path)
    inputs = load(MODULE).inputs()
    nets = explorer.nets(jax="port:jax_net", torch="port:torch_net", inputs=inputs)
    (case,) = explorer.explore(nets, engines=ENGINES, cases="main").report.cases
    assert case.verdict == "match"
    with pytest.raises(UsageError, match="jax_arguments is given without jax"):
        explorer.nets(torch="port:torch_net", jax_arguments={"a": 1}, inputs=inputs)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("self.norm", "self.bn", "the module holds bn.bias, which is none of the parameters"),
        (
            "nnx.Linear(4, 2,",
            "nnx.Linear(4, 3,",
            r"fcs.1.bias in shape \(3,\), and is given \(2,\)",
        ),
    ],
)
def test_a_module_with_another_name_or_shape_is_refused(
    old: str, new: str, words: str, workers: Workers, tmp_path: Path
) -> None:
    path = tmp_path / "other_net.py"
    torch, jax = MODULE.read_text().split("def jax_net")
    path.write_text(f"{torch}def jax_net{jax.replace(old, new)}")
    with pytest.raises(ScenarioError, match=words):
        explore(load(path), workers, engines=ENGINES, selection="main")
