"""What a comparison reports beside its verdict: kinds of difference, who is apart, noise, levels."""

import numpy as np
import pytest

from explorer.compare.node_noise import lent_levels
from explorer.compare.noise import CLEAR
from explorer.compare.results import agrees_with_oracle, compare, movements
from explorer.compare.verdicts import judge
from explorer.model.arrays import AnyArray, pack
from explorer.model.cases import GradCase
from explorer.model.graph import GradGraph, Node, Output
from explorer.model.results import Estimate, LeafNoise, OracleResult, Result, ResultNoise
from explorer.numeric.differences import directions
from explorer.numeric.summaries import summarise
from tests.support.results import FINE, answer, raised, values

NO_ORACLE = OracleResult("not_defined")
CASE = GradCase("grad", 0)


@pytest.mark.parametrize("other", [values()[:2], values("float64")])
def test_what_has_another_form_is_in_no_framework_s_table(other: AnyArray) -> None:
    comparison = compare(answer(values(), values()), answer(values(), other))
    assert comparison.verdict == "differs"
    assert (comparison.in_torch_table, comparison.in_mindspore_table) == (False, False)


def test_movements_are_the_measured_ones_by_leaf_in_float64() -> None:
    moved = np.array([1e-7, 2e-7], np.float32)
    noise = ResultNoise(leaves=(LeafNoise("dx", pack(moved)),))
    (name,) = movements(noise)
    assert name == "dx"
    assert movements(noise)["dx"].dtype == np.float64
    np.testing.assert_array_equal(movements(noise)["dx"], moved.astype(np.float64))
    assert movements(None) == {}


def test_engines_that_disagree_are_named_two_by_two_and_the_oracle_is_none_of_them() -> None:
    doubled = answer(values() * 2, values())
    right = Estimate("dx", pack(values("float64"))), Estimate("dy", pack(values("float64")))
    results: dict[str, Result] = {
        "mindspore-graph": FINE,
        "mindspore-tape": doubled,
        "torch-tape": FINE,
    }
    report = judge(CASE, results, OracleResult("ok", right))
    assert report.oracle_agrees is False
    assert report.apart == (
        ("mindspore-graph", "mindspore-tape"),
        ("mindspore-tape", "torch-tape"),
    )


def test_an_error_on_one_side_is_a_difference_of_outcome() -> None:
    report = judge(CASE, {"torch-tape": FINE, "torch-graph": raised()}, NO_ORACLE)
    assert report.greatest is not None
    assert report.greatest.what == "outcome"


@pytest.mark.parametrize(("off", "agrees"), [(0.9, True), (1.1, False)])
def test_noise_along_a_direction_adds_up_as_squares_do(off: float, agrees: bool) -> None:
    """Along a unit vector, elements that move by 0.01 each move their sum by 0.01 too."""
    gradient = np.zeros((40, 30))
    rows = directions("dx", 16, gradient.shape).reshape(16, -1)
    estimated = rows @ gradient.ravel()
    estimated[5] += off * CLEAR * 0.01
    result = answer(gradient, structure="dx")
    oracle = OracleResult("ok", (Estimate("dx", pack(estimated), 16),))
    moved = {"dx": np.full(gradient.shape, 0.01)}
    assert agrees_with_oracle(result, oracle, moved) is agrees


def graph_of(*nodes: tuple[AnyArray, float | None]) -> GradGraph:
    """Ops without edges, each with its value and its noise."""
    records = []
    for place, (value, noise) in enumerate(nodes):
        output = Output(value.shape, "float64", summarise(value), noise)
        records.append(
            Node(
                id=f"n{place}",
                op="Mul",
                kind="op",
                phase="forward",
                order=place,
                outputs=(output,),
            )
        )
    return GradGraph(engine="a", case="c", stage="tape", nodes=tuple(records), edges=())


def test_a_level_is_lent_by_the_nearest_value_and_not_by_a_noisier_one_that_is_near() -> None:
    value = np.linspace(1.0, 2.0, 9)
    lender = graph_of((value * (1 + 1e-5), 1e-6), (value * (1 + 5e-3), 1e-4))
    (node,) = lent_levels(graph_of((value, None)), lender).nodes
    assert node.outputs[0].noise == 1e-6


def test_of_values_that_are_equally_near_the_noisiest_lends_its_level() -> None:
    value = np.linspace(1.0, 2.0, 9)
    lender = graph_of((value, 1e-6), (value, 1e-4))
    (node,) = lent_levels(graph_of((value, None)), lender).nodes
    assert node.outputs[0].noise == 1e-4


def test_a_value_that_nobody_is_near_gets_no_level() -> None:
    value = np.linspace(1.0, 2.0, 9)
    (node,) = lent_levels(graph_of((value, None)), graph_of((value * 1.1, 1e-6))).nodes
    assert node.outputs[0].noise is None
