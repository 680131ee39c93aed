"""Nets are looked at for real: what agrees, what raises, what is wrong, and what is known."""

from pathlib import Path

import msgspec
import pytest

from explorer.fuzz import operators
from explorer.fuzz.operators import Operator
from explorer.fuzz.program import Program
from explorer.fuzz.search import NetRunner, _finding
from explorer.fuzz.sightings import known_reasons
from explorer.model.engines import ENGINES, FRAMEWORKS, Framework
from explorer.model.fuzz import Sighting
from explorer.workers.workers import Workers
from tests.support.programs import program, step
from tests.support.samples import sampled

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = ("mindspore-tape", "torch-tape")


@pytest.fixture
def runner(workers: Workers, tmp_path: Path) -> NetRunner:
    return NetRunner(workers, tmp_path)


@pytest.fixture
def tapes(workers: Workers, tmp_path: Path) -> NetRunner:
    """A runner that has no graph compiled: of a finding many nets are run."""
    return NetRunner(workers, tmp_path, TAPES)


def plant(framework: Framework, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator "wrong" that is another function in one framework."""
    right = operators.OPERATORS["sin"]
    texts = {**right.texts, framework: right.texts[framework].replace("sin", "cos")}
    wrong = Operator("wrong", texts, 1, right.fit, right.bound)
    monkeypatch.setitem(operators.OPERATORS, "wrong", wrong)


LONG = (step("t0", "tanh", "a"), step("t1", "wrong", "t0"), step("t2", "mul", "t1", "t0"))


def test_a_net_without_mistake_agrees(runner: NetRunner) -> None:
    net = program(step("t0", "tanh", "a"), step("t1", "mul", "t0", "a"))
    assert runner.run(net) == Sighting("agrees")


@pytest.mark.jax
@pytest.mark.parametrize("framework", sampled(FRAMEWORKS, 0, ("jax",)))
def test_a_mistake_planted_in_one_of_three_frameworks_is_blamed_on_its_engines(
    framework: Framework, workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(framework, monkeypatch)
    runner = NetRunner(workers, tmp_path, tuple(ENGINES))
    net: Program = program(*LONG)
    sighting = runner.run(net)
    blamed = [name for name, engine in ENGINES.items() if engine.framework == framework]
    assert (sighting.kind, sighting.engines) == ("differs", tuple(blamed))
    finding = _finding(7, net, sighting, runner)
    assert (finding.found, finding.program.operators) == ("framework", ("wrong",))


@pytest.mark.jax
@pytest.mark.parametrize(("operator", "operands"), [("branch", "aa"), ("masked_sum", "a")])
def test_what_no_compiler_captures_is_known_in_each(
    operator: str, operands: str, workers: Workers, tmp_path: Path
) -> None:
    net = program(step("t0", operator, *operands, shape=()))
    sighting = NetRunner(workers, tmp_path, tuple(ENGINES)).run(net)
    assert (sighting.kind, sighting.engines) == ("raises", ("torch-graph", "jax-graph"))
    assert len(known_reasons(net, sighting)) == 2


def test_a_planted_mistake_is_found_blamed_cut_down_and_told_from_a_bad_point(
    tapes: NetRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant("mindspore", monkeypatch)
    net: Program = program(*LONG)
    sighting = tapes.run(net)
    # The oracle runs PyTorch's net.
    assert (sighting.kind, sighting.engines) == ("differs", ("mindspore-tape",))
    finding = _finding(7, net, sighting, tapes)
    assert finding.number == 7
    assert finding.found == "framework"
    assert finding.program.operators == ("wrong",)
    assert finding.operators == ("tanh", "wrong", "mul")


def test_what_one_point_alone_shows_is_ill_conditioned(tapes: NetRunner) -> None:
    # At 3 this function has a kink: each framework takes the slope of another side.
    net = program(step("t0", "hardswish", "a"))
    net = msgspec.structs.replace(net, values={"a": (3.0, 2.0, 0.5)})
    sighting = tapes.run(net)
    assert sighting.kind == "differs"
    assert _finding(0, net, sighting, tapes).found == "ill_conditioned"


def test_an_engine_that_raises_is_named_and_known(runner: NetRunner) -> None:
    net = program(step("t0", "branch", "a", "a"))
    sighting = runner.run(net)
    assert (sighting.kind, sighting.engines) == ("raises", ("torch-graph",))
    (reason,) = known_reasons(net, sighting)
    assert "branch" in reason
    assert known_reasons(net, Sighting("raises", ("torch-tape",), sighting.errors)) == ()
    assert known_reasons(net, Sighting("differs", ("torch-graph",), sighting.errors)) == ()


def test_a_net_that_no_framework_runs_is_refused(runner: NetRunner) -> None:
    net = program(step("t0", "index", "a", shape=(), place="7"))
    assert runner.run(net).kind == "refused"
