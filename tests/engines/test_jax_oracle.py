"""Central differences of JAX's net: they judge JAX's engines as those of PyTorch's net do PyTorch's."""

import numpy as np
import pytest

from explorer.compare.results.comparison import BesideOracle
from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.words.oracle import oracle_summary
from explorer.workers.workers import Workers
from tests.support.engine_requests import JAX_ENGINES, EngineRequests

pytestmark = pytest.mark.jax

CASE = GradCase("grad", 0, "all")


@pytest.mark.parametrize("name", ["dense_mse", "lstm", "stop_gradient", "branch_on_value"])
def test_both_engines_agree_with_it(jax: EngineRequests, name: str) -> None:
    oracle = jax.estimate(name, CASE)
    assert (oracle.outcome, oracle.framework) == ("ok", "jax")
    assert oracle.stops == (name == "stop_gradient")
    for engine in JAX_ENGINES:
        answer = jax.answer(name, engine, CASE)
        if answer.outcome == "ok":
            assert BesideOracle(answer, oracle).agrees, engine


@pytest.mark.parametrize("name", ["dense_mse", "kinks", "float16_underflow", "while_loop"])
def test_it_estimates_what_pytorch_s_net_gives(
    jax: EngineRequests, workers: Workers, name: str
) -> None:
    own, other = jax.estimate(name, CASE), EngineRequests(workers, "torch").estimate(name, CASE)
    assert other.framework == "torch"
    for estimate, another in zip(own.estimates, other.estimates, strict=True):
        assert estimate.name == another.name
        np.testing.assert_allclose(
            unpack(estimate.value), unpack(another.value), atol=1e-8, equal_nan=True
        )
        assert estimate.obstacles == another.obstacles


def test_a_net_that_is_compiled_is_estimated_as_one_that_is_not(jax: EngineRequests) -> None:
    oracle = jax.estimate("jax_many_operations", GradCase("grad", 0))
    assert oracle.outcome == "ok", oracle
    (estimate,) = oracle.estimates
    # No step is lost in a cast, and what is cut off stays as it was at first.
    np.testing.assert_allclose(unpack(estimate.value), np.full(3, 0.99**400), atol=1e-9)


def test_it_judges_where_pytorch_is_not_compared(workers: Workers) -> None:
    scenario = load(find("dense_mse"))
    report = explore(scenario, workers, engines=JAX_ENGINES, selection="main", graphs=False)
    assert oracle_summary(report.cases).startswith(
        "oracle (central differences in float64 of JAX's net): agrees on every element in 1"
    )
