"""What ``fuzz`` says of a finding, and with what code it exits, for each class of findings."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from explorer.cli.fuzz import run_fuzz
from explorer.cli.options import FuzzOptions
from explorer.fuzz.search import Finding, NetResult, frameworks_of
from explorer.model.engines import ENGINES, FRAMEWORKS, STANDARD, Framework
from explorer.model.fuzz import FindingClass, Sighting
from explorer.scenario.load import load
from explorer.words.fuzz import CLASSES
from tests.support.command_line import explorer
from tests.support.programs import program, step


@pytest.mark.parametrize(
    ("found", "code"),
    [("framework", 1), ("ours", 1), ("unsteady", 1), ("ill_conditioned", 0), ("known", 0)],
)
def test_what_nobody_has_looked_at_yet_exits_with_one_and_is_written(
    found: FindingClass,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    net = program(step("t0", "tanh", "a"))
    sighting = Sighting("differs", ("mindspore-tape",), leaf="da")
    finding = Finding(
        number=4, found=found, sighting=sighting, program=net, operators=net.operators
    )
    looked = [NetResult(4, sighting, net.operators, finding)]
    engines = ["torch-graph", "jax-tape"]

    def search(
        numbers: Sequence[int], seed: int, named: tuple[str, ...], corners: bool
    ) -> list[NetResult]:
        assert (list(numbers), seed, list(named), corners) == ([4], 9, engines, False)
        return looked

    monkeypatch.setattr("explorer.cli.fuzz.search", search)
    options = FuzzOptions(cases=1, seed=9, start=4, out=tmp_path, as_json=False, engines=engines)
    assert run_fuzz(options) == code
    assert f"4: {CLASSES[found]}: differs (tanh, float32, order 1)" in capsys.readouterr().out
    file = tmp_path / "net_9_4.py"
    assert file.exists() == (found != "known")
    if file.exists():
        # It has a net for each engine that is named.
        scenario = load(file)
        assert [name for name in FRAMEWORKS if scenario.defines(name)] == ["torch", "jax"]


@pytest.mark.parametrize(
    ("engines", "frameworks"),
    [
        (STANDARD, ("mindspore", "torch")),
        (("jax-graph",), ("jax",)),
        (("torch-tape@torch26", "jax-tape"), ("torch", "jax")),
        (tuple(ENGINES), FRAMEWORKS),
        # The oracle needs a net of PyTorch's or JAX's.
        (("mindspore-graph", "mindspore-tape"), ("mindspore", "torch")),
    ],
)
def test_nets_are_written_for_the_engines_and_for_the_oracle(
    engines: tuple[str, ...], frameworks: tuple[Framework, ...]
) -> None:
    assert frameworks_of(engines) == frameworks


@pytest.mark.whole
@pytest.mark.torch
@pytest.mark.mindspore
@pytest.mark.jax
def test_where_a_third_framework_is_found_its_engines_run_too() -> None:
    done = explorer("fuzz", "--cases", "1", "--seed", "2", "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["engines"] == list(ENGINES)
