"""Central differences estimate what the engines derive, and notice when one of them is wrong."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from explorer.compare.results.comparison import BesideOracle, movements
from explorer.model.arrays import AnyArray, pack, unpack
from explorer.model.cases import GradCase
from explorer.model.results import Leaf, OracleResult, Result
from explorer.scenario.matrix import matrix
from explorer.scenario.selection import covering
from explorer.text.failures import message
from explorer.workers.workers import Workers
from tests.support.engine_requests import (
    EVERYTHING,
    FIRST,
    TORCH_ENGINES,
    EngineRequests,
    answer,
    estimate,
    estimate_in_time,
    of_file,
)
from tests.support.scenario_files import function_net, module_net

pytestmark = pytest.mark.torch


def estimates(result: OracleResult) -> dict[str, object]:
    assert result.outcome == "ok", result.error
    return {leaf.name: unpack(leaf.value).round(5).tolist() for leaf in result.estimates}


def first_leaf_scaled(result: Result, factor: float) -> Result:
    first, *others = result.leaves
    wrong = Leaf(first.name, pack(unpack(first.value) * np.float32(factor)))
    return msgspec.structs.replace(result, leaves=(wrong, *others))


def test_the_guide_s_figures_come_out_of_the_forward_alone(torch: EngineRequests) -> None:
    assert estimates(torch.estimate("dense_mse", GradCase("grad", 0))) == {"dx": [[6, 9, 12]]}
    both = estimates(torch.estimate("dense_mse", GradCase("grad", (0, 1), "all", has_aux=True)))
    assert both == {"dx": [[4, 6, 8]], "dy": -2, "dfc.weight": [[2, 4, 6]]}


EVERY_CASE = matrix(2, True)
EACH_WAY = tuple(covering(EVERY_CASE))


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("dense_mse", EACH_WAY),
        pytest.param("conv_bn_relu_pool", EACH_WAY, marks=pytest.mark.whole),
        pytest.param("dense_mse", EVERY_CASE, marks=pytest.mark.whole),
    ],
)
def test_every_answer_of_both_engines_agrees(
    torch: EngineRequests, name: str, cases: tuple[GradCase, ...]
) -> None:
    for case in cases:
        noise = movements(torch.noise(name, case))
        oracle = torch.estimate(name, case)
        for engine in TORCH_ENGINES:
            answer = torch.answer(name, engine, case)
            assert answer.outcome == oracle.outcome, (engine, case.label)
            if answer.outcome == "ok":
                assert BesideOracle(answer, oracle, noise).agrees, (engine, case.label)


@pytest.mark.parametrize("name", ["dense_mse", "torch_wide"])
def test_a_leaf_wrong_by_half_a_percent_is_noticed(torch: EngineRequests, name: str) -> None:
    case = GradCase("grad", 0, "all", has_aux=True)
    answer = torch.answer(name, "torch-tape", case)
    oracle = torch.estimate(name, case)
    noise = movements(torch.noise(name, case))
    assert BesideOracle(answer, oracle, noise).agrees
    assert not BesideOracle(first_leaf_scaled(answer, 1.005), oracle, noise).agrees


def test_many_elements_are_estimated_along_seeded_directions(torch: EngineRequests) -> None:
    oracle = torch.estimate("torch_wide", GradCase("grad", 0, "all", has_aux=True))
    assert {leaf.directions for leaf in oracle.estimates} == {16}
    assert {leaf.value.shape for leaf in oracle.estimates} == {(16,)}
    few = torch.estimate("torch_wide", GradCase("grad", 0, has_aux=True))
    assert [(leaf.directions, leaf.value.shape) for leaf in few.estimates] == [(0, (4, 40))]


def test_the_forwards_of_a_deep_net_do_not_grow_with_its_parameters(
    workers: Workers, tmp_path: Path
) -> None:
    layers = """
start = torch.arange(4, dtype=torch.float64)
layers = [nn.Parameter(torch.sin(start + layer)) for layer in range(300)]
self.layers = nn.ParameterList(layers)
"""
    body = "for weight in self.layers:\n    x = torch.tanh(x + weight)\nreturn x.sum()"
    net = module_net(tmp_path, layers, body, x="np.linspace(-1, 1, 4)")
    request = of_file(net, case=GradCase("grad", 0, "all"))
    gradients, oracle = answer(workers, request), estimate(workers, request)
    names = [name for it in oracle.estimates for name in it.leaves]
    assert names == [leaf.name for leaf in gradients.leaves]
    assert oracle.estimates[0].leaves == ("dx",)
    derivatives = sum(it.directions for it in oracle.estimates)
    assert derivatives <= 1024

    assert BesideOracle(gradients, oracle).agrees
    last = gradients.leaves[-1]
    assert last.name in oracle.estimates[-1].together
    wrong = Leaf(last.name, pack(unpack(last.value) * 1.01))
    off = msgspec.structs.replace(gradients, leaves=(*gradients.leaves[:-1], wrong))
    assert not BesideOracle(off, oracle).agrees


@pytest.mark.parametrize(
    ("leaves", "derivatives", "directions"),
    [
        pytest.param(70, 1000, 4, id="enough time for four directions of each leaf"),
        pytest.param(70, 100, 3, id="leaves together so that each gets some"),
        pytest.param(70, 2, 1, id="hardly any time"),
        pytest.param(40, 60, 2, id="fewer than sixteen directions"),
        pytest.param(2, 60, 16, id="no time for every element"),
    ],
)
def test_every_leaf_gets_as_many_directions_as_there_is_time_for(
    workers: Workers, tmp_path: Path, leaves: int, derivatives: int, directions: int
) -> None:
    layers = f"""
start = torch.arange(12, dtype=torch.float64)
self.layers = nn.ParameterList(torch.sin(start + layer) for layer in range({leaves}))
"""
    body = "return sum(torch.sin(x * weight).sum() for weight in self.layers)"
    net = module_net(tmp_path, layers, body, x="np.linspace(-1, 1, 60).reshape(5, 12)")
    request = of_file(net, case=GradCase("grad", 0, "all"))
    oracle = estimate_in_time(workers, request, derivatives)
    gradients = answer(workers, request)
    names = [name for it in oracle.estimates for name in it.leaves]
    assert names == [leaf.name for leaf in gradients.leaves]
    assert {it.directions for it in oracle.estimates} == {directions}
    assert not any(it.obstacles for it in oracle.estimates)
    assert BesideOracle(gradients, oracle).agrees


def test_a_leaf_at_kinks_costs_no_other_leaf_its_estimate(workers: Workers, tmp_path: Path) -> None:
    layers = """
start = torch.arange(12, dtype=torch.float64)
self.layers = nn.ParameterList(torch.cos(start + layer) for layer in range(70))
self.layers[5] = nn.Parameter(torch.zeros(12))
"""
    body = "return sum(torch.sin(x * abs(weight)).sum() for weight in self.layers)"
    net = module_net(tmp_path, layers, body, x="np.linspace(-1, 1, 60).reshape(5, 12)")
    request = of_file(net, case=GradCase("grad", 0, "all"))
    oracle = estimate_in_time(workers, request, 150)
    unjudged = {it.name: [found.kind for found in it.obstacles] for it in oracle.estimates}
    assert {name: kinds for name, kinds in unjudged.items() if kinds} == {"dlayers.5": ["kinks"]}


def estimated(workers: Workers, path: Path, case: GradCase = FIRST) -> dict[str, AnyArray]:
    """The estimates of a net that was not seen before, by name."""
    result = estimate(workers, of_file(path, case=case))
    assert result.outcome == "ok", result.error
    return {leaf.name: unpack(leaf.value) for leaf in result.estimates}


def test_every_evaluation_starts_from_the_state_of_the_first(
    workers: Workers, tmp_path: Path
) -> None:
    # A net that counts its calls in a buffer, and multiplies by the count: 2 in the first call.
    net = module_net(
        tmp_path,
        "self.register_buffer('calls', torch.ones(()))\n"
        "self.weight = nn.Parameter(torch.full((3,), 3.0))",
        "self.calls += 1\nreturn (self.weight * x * self.calls).sum()",
        declared="SAME_DROPOUT = False",
        x="np.array([1.0, -2.0, 0.5])",
    )
    estimates = estimated(workers, net, GradCase("grad", 0, "all"))
    # Were the count not set back, the two sides of a difference would have other factors.
    np.testing.assert_allclose(estimates["dx"], [6, 6, 6], 1e-6)
    np.testing.assert_allclose(estimates["dweight"], [2, -4, 1], 1e-6)


def test_every_evaluation_draws_the_same_numbers(workers: Workers, tmp_path: Path) -> None:
    # The slopes are what the net draws, between 0 and 1.
    net = function_net(
        tmp_path,
        "return (x * torch.rand(3)).sum()",
        declared="SAME_DROPOUT = False",
        x="np.array([1.0, -2.0, 0.5])",
    )
    slopes = estimated(workers, net)["dx"]
    # Of other draws on either side the difference is divided by 2e-6: a slope of some 1e5.
    assert (np.abs(slopes) < 1).all()
    assert len(set(slopes.round(6))) == 3


def test_dropout_and_running_statistics_are_those_of_the_tape(torch: EngineRequests) -> None:
    estimates = torch.estimate("torch_wide", EVERYTHING)
    noise = movements(torch.noise("torch_wide", EVERYTHING))
    answer = torch.answer("torch_wide", "torch-tape", EVERYTHING)
    assert BesideOracle(answer, estimates, noise).agrees


@pytest.mark.parametrize("engine", TORCH_ENGINES)
def test_a_net_that_rounds_to_half_precision_is_judged_with_its_own_noise(
    torch: EngineRequests, engine: str
) -> None:
    case = GradCase("grad", 0, "all")
    answer = torch.answer("torch_half", engine, case)
    oracle = torch.estimate("torch_half", case)
    noise = movements(torch.noise("torch_half", case))
    assert BesideOracle(answer, oracle, noise).agrees
    assert not BesideOracle(answer, oracle).agrees
    assert not BesideOracle(first_leaf_scaled(answer, 1.2), oracle, noise).agrees


def test_what_a_net_casts_to_float32_is_estimated_in_float64(torch: EngineRequests) -> None:
    assert estimates(torch.estimate("torch_single", GradCase("grad", 0))) == {"dx": [1, 3]}


@pytest.mark.parametrize(
    ("returned", "x", "central", "half"),
    [
        ("torch.relu(x).sum()", [0, 1, -2], [0.5, 1, 0], [0.5, 0, 0]),
        ("3 * x.abs().sum()", [0, 0, 2], [0, 0, 3], [3, 3, 0]),
        ("x.max(0).values", [1, 3, 3], [0, 0.5, 0.5], [0, 0.5, 0.5]),
        ("-x.abs().sum(), (x * x).sum()", [0, 1, 2], [0, 1, 3], [1, 0, 0]),
        # Two kinks that make a straight line; a minimum, and a steep one.
        ("(torch.relu(x) - torch.relu(-x)).sum()", [0, 1, 2], [1, 1, 1], None),
        ("(x * x).sum()", [0, 1, 2], [0, 2, 4], None),
        ("(30 * x).cosh().sum()", [0, 0.1, 0.2], 30 * np.sinh([0, 3, 6]), None),
    ],
)
def test_the_slopes_to_either_side_of_a_kink_part(
    workers: Workers,
    tmp_path: Path,
    returned: str,
    x: list[float],
    central: list[float],
    half: list[float] | None,
) -> None:
    path = function_net(tmp_path, f"return {returned}", x=f"np.array({x}, np.float32)")
    (found,) = estimate(workers, of_file(path)).estimates
    np.testing.assert_allclose(unpack(found.value), central, 1e-5, atol=1e-6)
    if half is None:
        assert found.kinks is None
        return
    assert found.kinks is not None
    np.testing.assert_allclose(unpack(found.kinks), half, 1e-5, atol=1e-6)
    assert found.at_kinks == np.count_nonzero(half)


def test_the_rounding_of_a_great_output_is_no_kink(workers: Workers, tmp_path: Path) -> None:
    x = "np.array([0.1, 0.2, 0.7], np.float32)"
    path = function_net(tmp_path, "return (x / 3).sum() + 1e6", x=x)
    (found,) = estimate(workers, of_file(path)).estimates
    rounded = np.abs(unpack(found.value) - 1 / 3).max()
    assert rounded > 1e-5  # it is there, or this test would say nothing
    assert found.kinks is None


def test_a_net_that_changes_from_call_to_call_has_no_derivative(
    workers: Workers, tmp_path: Path
) -> None:
    path = function_net(
        tmp_path,
        "calls.append(x)\nreturn (len(calls) * x).sum()",
        before="calls = []",
        x="np.array([1.0, 2.0], np.float32)",
    )
    result = estimate(workers, of_file(path))
    assert (result.outcome, result.estimates) == ("raised", ())
    assert result.error
    assert result.error.kind == "not_deterministic"


def test_positions_of_one_tensor_are_varied_apart(torch: EngineRequests) -> None:
    assert estimates(torch.estimate("aliased_input", GradCase("grad", (0, 1)))) == {
        "da": [1, 2, 3],
        "db": [1, 2, 3],
    }


@pytest.mark.parametrize(
    ("name", "case", "outcome", "reason"),
    [
        ("dense_mse", GradCase("grad"), "raised", "neither an input nor a weight"),
        ("polynomial", GradCase("grad", 0, has_aux=True), "raised", "no auxiliary outputs"),
        ("torch_odd", GradCase("grad", 1), "raised", "rows has dtype int64"),
        ("dense_mse", GradCase("grad", 0, order=6), "unsupported", "gradients up to order 5"),
    ],
)
def test_what_cannot_be_estimated_says_why(
    torch: EngineRequests, name: str, case: GradCase, outcome: str, reason: str
) -> None:
    result = torch.estimate(name, case)
    assert (result.outcome, result.estimates) == (outcome, ())
    assert result.error
    assert reason in message(result.error)
