"""Nets in JAX that are modules of flax or equinox: parameters, modes, programs, and what is refused."""

import re
from pathlib import Path

import pytest

import explorer
from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.errors import ScenarioError, UsageError
from explorer.model.findings import PairedParameters
from explorer.scenario.declaration import Declaration
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.needs import skip_without

pytestmark = [pytest.mark.jax, pytest.mark.torch]

NETS = Path(__file__).resolve().parents[1] / "nets"

MODULE = NETS / "flax_module.py"
LINEN = NETS / "linen_module.py"
EQUINOX = NETS / "equinox_module.py"

ENGINES = ("jax-tape", "jax-graph", "torch-tape")


@pytest.fixture(scope="module", autouse=True)
def _has_packages() -> None:
    skip_without("flax", "equinox")


def planted(source: Path, path: Path, old: str, new: str) -> Path:
    """The file of a net in whose JAX a text stands in the place of another."""
    torch, jax = source.read_text().split("def jax_net")
    assert old in jax
    path.write_text(f"{torch}def jax_net{jax.replace(old, new)}")
    return path


def in_mode(source: Path, folder: Path, trains: bool) -> Declaration:
    """A net that says whether it trains."""
    path = folder / f"net_{trains}.py"
    path.write_text(f"{source.read_text()}\n\nTRAIN = {trains}\n")
    return load(path)


@pytest.mark.parametrize(
    ("source", "trains"),
    [(MODULE, False), (MODULE, True), (LINEN, False), (LINEN, True), (EQUINOX, False)],
)
def test_a_module_starts_as_pytorch_s_net_and_gives_its_gradients(
    source: Path, trains: bool, workers: Workers, tmp_path: Path
) -> None:
    scenario = in_mode(source, tmp_path, trains)
    report = explore(scenario, workers, engines=ENGINES, selection="main")
    (case,) = report.cases
    assert {result.outcome for result in case.results.values()} == {"ok"}
    assert case.verdict == "match"
    result = case.results["jax-tape"]
    shapes = {leaf.name: unpack(leaf.value).shape for leaf in result.leaves}
    assert shapes["dconv.weight"] == (4, 3, 3, 3)
    assert shapes["dconv.bias"] == (4,)
    assert shapes["dfcs.1.weight"] == (2, 4)
    assert f"net = as_function(jax_net(), trains={trains})" in result.code


def test_linen_normalizes_by_the_batch_where_it_trains(workers: Workers, tmp_path: Path) -> None:
    values = []
    for trains in (False, True):
        scenario = in_mode(LINEN, tmp_path, trains)
        (case,) = explore(scenario, workers, engines=("jax-tape",), selection="main").cases
        leaves = {leaf.name: unpack(leaf.value) for leaf in case.results["jax-tape"].leaves}
        values.append(leaves["dconv.bias"])
    # Behind statistics of the batch, what is added to all of it makes no difference.
    assert abs(values[1]).max() < 1e-6 < abs(values[0]).max()


def test_equinox_is_set_to_training(workers: Workers, tmp_path: Path) -> None:
    scenario = in_mode(EQUINOX, tmp_path, True)
    (case,) = explore(scenario, workers, engines=("jax-tape",), selection="main").cases
    result = case.results["jax-tape"]
    assert result.error is not None
    assert "Dropout requires a key" in result.error.message


def test_nets_of_a_package_may_be_in_jax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "port.py").write_text(MODULE.read_text())
    monkeypatch.syspath_prepend(tmp_path)
    inputs = load(MODULE).inputs()
    nets = explorer.nets(jax="port:jax_net", torch="port:torch_net", inputs=inputs)
    (case,) = explorer.explore(nets, engines=ENGINES, cases="main").report.cases
    assert case.verdict == "match"
    with pytest.raises(UsageError, match="jax_arguments is given without jax"):
        explorer.nets(torch="port:torch_net", jax_arguments={"a": 1}, inputs=inputs)


@pytest.mark.parametrize("source", [MODULE, LINEN, EQUINOX])
@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_module_whose_attributes_are_called_otherwise_is_paired(
    source: Path, is_wrong: bool, workers: Workers, tmp_path: Path
) -> None:
    path = tmp_path / "renamed_net.py"
    torch, jax = source.read_text().split("def jax_net")
    for old, new in {"conv": "stem", "norm": "bn", "fcs": "heads"}.items():
        jax = re.sub(rf"\b{old}\b", new, jax)
    path.write_text(f"{torch}def jax_net{jax.replace('relu', 'gelu') if is_wrong else jax}")
    report = explore(load(path), workers, engines=ENGINES, selection="main")
    (case,) = report.cases
    assert case.verdict == ("differs" if is_wrong else "match")
    (fact,) = (it.fact for it in report.findings if isinstance(it.fact, PairedParameters))
    assert fact.confirmed is not is_wrong
    assert ("stem", "conv") in fact.examples
    assert "names={'stem." in case.results["jax-tape"].code


def test_a_scenario_says_what_a_module_is_called(workers: Workers, tmp_path: Path) -> None:
    path = planted(LINEN, tmp_path / "named_net.py", "self.norm", "self.bn")
    path.write_text(path.read_text() + '\n\nPARAMETER_NAMES = {"bn": "norm"}\n')
    report = explore(load(path), workers, engines=ENGINES, selection="main")
    assert report.cases[0].verdict == "match"
    assert not any(isinstance(it.fact, PairedParameters) for it in report.findings)


@pytest.mark.parametrize(
    ("source", "old", "new", "words"),
    [
        (
            MODULE,
            "self.norm = nnx.BatchNorm(4,",
            "self.more = nnx.BatchNorm(5, rngs=nnx.Rngs(0)); self.norm = nnx.BatchNorm(4,",
            "the module holds more.running_mean, which is none of the parameters",
        ),
        (
            MODULE,
            "nnx.Linear(4, 2,",
            "nnx.Linear(4, 3,",
            r"fcs.1.weight in shape \(4, 3\), and is given \(4, 2\)",
        ),
        (
            LINEN,
            "nn.Dense(2)",
            "nn.Dense(3)",
            r"fcs.1.weight in shape \(4, 3\), and is given \(4, 2\)",
        ),
        (
            EQUINOX,
            "Linear(4, 2,",
            "Linear(4, 3,",
            r"fcs.1.weight in shape \(3, 4\), and is given \(2, 4\)",
        ),
    ],
)
def test_a_module_with_more_or_another_shape_is_refused(
    source: Path, old: str, new: str, words: str, workers: Workers, tmp_path: Path
) -> None:
    path = planted(source, tmp_path / "other_net.py", old, new)
    with pytest.raises(ScenarioError, match=words):
        explore(load(path), workers, engines=ENGINES, selection="main")
