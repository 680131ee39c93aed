"""Gradients of shipped scenarios beside formulas that numpy computes: one row a scenario."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.words.divergences import sentence
from tests.support.scenario_reports import (
    BY_BOTH,
    BY_FIRST,
    BY_SECOND,
    BY_WEIGHTS,
    FLOAT32,
    FLOAT64,
    MINDSPORE,
    TORCH,
    WHOLE,
    Floats,
    Reports,
    all_say,
    each_scenario,
    graph,
    leaves,
    ops,
    origins,
    refuses,
    row,
    value,
    values_of,
)
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

Values = dict[str, Floats]


# Formulas: of the inputs and parameters, the gradients


def batch_norm_in_training(v: Values) -> Values:
    """The gradient goes through mean and variance."""
    x = v["x"]
    spread = np.sqrt(x.var(axis=0) + 1e-5)
    normed = (x - x.mean(axis=0)) / spread
    dy = 3 * (normed * v["bn.weight"] + v["bn.bias"]) ** 2
    dn = dy * v["bn.weight"]
    dx = (dn - dn.mean(axis=0) - normed * (dn * normed).mean(axis=0)) / spread
    assert dx.sum(axis=0) == pytest.approx([0, 0], abs=1e-12)
    return {"dx": dx, "dbn.weight": (dy * normed).sum(axis=0), "dbn.bias": dy.sum(axis=0)}


def block(x: Floats) -> tuple[Floats, Floats]:
    """The block that is kept or computed again, and its derivative."""
    size = 1 / (1 + np.exp(-x))
    return np.tanh(x) * size, (1 - np.tanh(x) ** 2) * size + np.tanh(x) * size * (1 - size)


def two_blocks(v: Values) -> Values:
    """A checkpointed block gives the same gradient."""
    hidden, slope = block(v["x"])
    return {"dx": block(hidden)[1] * slope}


def dropped(v: Values) -> Values:
    """What dropout drops gets no gradient, and the rest a larger one."""
    x, mask = v["x"], v["mask"]
    return {"dx": 2 * x * mask / 0.75**2, "dmask": 2 * x**2 * mask / 0.75**2}


def repeated_rows(v: Values) -> Values:
    """Repeated indices add up their gradients in one row."""
    index = v["index"].astype(int)
    table = np.zeros((3, 2))
    np.add.at(table, index, v["place"])
    assert table.tolist() == [[2, 20], [0, 0], [8, 80]]
    return {"dtable.weight": table, "dplace": v["table.weight"][index]}


def tied(v: Values) -> Values:
    """The gradient of a weight in two places is the sum of both uses."""
    decoding, encoding, dx = uses_of_tied_weights(v)
    return {"dx": dx, "dw": decoding + encoding}


def uses_of_tied_weights(v: Values) -> tuple[Floats, Floats, Floats]:
    """The gradient that each use of the weight sends, and that of the input."""
    x, w = v["x"], v["w"]
    code = np.tanh(x @ w.T)
    error = 2 * (code @ w - x)
    inner = error @ w.T * (1 - code**2)
    return code.T @ error, inner.T @ x, inner @ w - error


def chosen_experts(v: Values) -> Values:
    """Only the best two experts and their scores get gradients."""
    scores, answers = v["scores"], v["answers"]
    weights = np.where(best_two(scores), np.exp(scores), 0)
    weights /= weights.sum(axis=1, keepdims=True)
    mean = (weights * answers).sum(axis=1, keepdims=True)
    return {"dscores": weights * (answers - mean), "danswers": weights}


def best_two(scores: Floats) -> Floats:
    best: Floats = scores >= np.sort(scores)[:, -2:-1]
    return best


def stopped(v: Values) -> Values:
    """A stopped value counts in the loss, and not in the gradient."""
    return {"dx": 2 * v["x"] ** 3}


class Row(NamedTuple):
    """The gradients of a case, which every engine gives within a tolerance."""

    gradients: Callable[[Values], dict[str, Any]]
    case: GradCase = WHOLE
    rtol: float = FLOAT32


ROWS = {
    "batch_norm_train": Row(batch_norm_in_training),
    "checkpointing": Row(two_blocks, BY_FIRST, FLOAT64),
    "dropout": Row(dropped, BY_BOTH, FLOAT64),
    "embedding_repeats": Row(repeated_rows, BY_WEIGHTS, FLOAT64),
    "stop_gradient": Row(stopped, BY_FIRST, FLOAT64),
    "tied_weights": Row(tied, WHOLE, FLOAT64),
    "top_k_mixture": Row(chosen_experts, BY_BOTH),
}


@pytest.mark.parametrize("name", each_scenario(ROWS))
def test_every_engine_gives_the_gradients_of_the_formula(report: Reports, name: str) -> None:
    gradients, case, rtol = ROWS[name]
    whole = report(name)
    all_say(row(whole, case), gradients(values_of(whole)), rtol)


# What else a scenario is about


@pytest.mark.parametrize("name", each_scenario(["batch_norm_eval"]))
def test_in_inference_mode_no_statistic_is_a_result(report: Reports, name: str) -> None:
    for engine in ENGINES:
        nodes = graph(report(name), engine).nodes
        assert not [it for it in nodes if it.kind == "output" and "running" in it.name]


@pytest.mark.parametrize("name", each_scenario(["dropout"]))
def test_in_inference_mode_there_is_no_mask_in_any_graph(report: Reports, name: str) -> None:
    for engine in ENGINES:
        for op in ops(report(name), engine, "backward"):
            assert "drop" not in op.lower()
            assert "bernoulli" not in op.lower()


@pytest.mark.parametrize("name", each_scenario(["embedding_repeats", "integer_input"]))
def test_an_index_gets_zeros_in_mindspore_and_is_refused_by_pytorch(
    report: Reports, name: str
) -> None:
    by_index = row(report(name), BY_FIRST if name == "embedding_repeats" else BY_SECOND)
    for engine in MINDSPORE:
        (gradient,) = leaves(by_index, engine).values()
        assert not gradient.any()
        assert gradient.dtype.kind == "i"
    for engine in TORCH:
        refuses(by_index, engine, "floating point dtype can require gradients")
    assert by_index.expected
    assert by_index.oracle_agrees is None


@pytest.mark.parametrize("name", each_scenario(["stop_gradient"]))
def test_the_oracle_differentiates_a_net_with_what_it_stops(report: Reports, name: str) -> None:
    whole = report(name)
    by_x = row(whole, BY_FIRST)
    (estimate,) = by_x.oracle.estimates
    np.testing.assert_allclose(unpack(estimate.value), stopped(values_of(whole))["dx"], 1e-6)
    assert (by_x.oracle_agrees, by_x.expected) == (True, True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", each_scenario(["tied_weights"]))
def test_both_uses_of_a_tied_weight_are_added_up_in_one_node(
    report: Reports, name: str, engine: str
) -> None:
    whole = report(name)
    decoding, encoding, _ = uses_of_tied_weights(values_of(whole))
    drawn = graph(whole, engine)
    sums = [
        node
        for node in drawn.nodes
        if node.kind == "accumulate"
        and node.outputs[0].shape == decoding.shape
        and np.allclose(value(node), decoding + encoding)
    ]
    (only_sum,) = sums
    parts = [value(node) for node in origins(drawn, only_sum)]
    for use in (decoding, encoding):
        assert any(part.shape == use.shape and np.allclose(part, use) for part in parts)


@pytest.mark.parametrize("name", each_scenario(["top_k_mixture"]))
def test_experts_that_are_not_chosen_get_exact_zeros(report: Reports, name: str) -> None:
    whole = report(name)
    chosen = best_two(values_of(whole)["scores"])
    assert chosen.any(axis=0).tolist() == [True, True, True, False]
    for engine in ENGINES:
        for gradient in leaves(row(whole, BY_BOTH), engine).values():
            assert not gradient[~chosen].any(), engine


@pytest.mark.parametrize("name", each_scenario(["kinks"]))
def test_conventions_at_kinks_are_shared_and_there_is_no_central_difference(
    report: Reports, name: str
) -> None:
    whole = report(name)
    x = values_of(whole)["x"]
    with np.errstate(divide="ignore", invalid="ignore"):
        dead = np.where(x < 2, -1.0, 0.0) / (2 - x)
    passes = ((x >= -1) & (x <= 1)).astype(np.float64)
    ties = np.where(x == 1, 0.5, x > 1)
    by_x = row(whole, BY_FIRST)
    all_say(by_x, {"dx": (x > 0) + 2 * np.sign(x) + 4 * passes + 8 * ties + dead}, FLOAT32)
    assert np.isnan(leaves(by_x, "torch-tape")["dx"][-1])

    (estimate,) = by_x.oracle.estimates
    halfway = [-2.25, 0.5 + 4 - 0.5, 1 + 2 + 2 + 4 - 1]
    np.testing.assert_allclose(unpack(estimate.value)[:3], halfway, 1e-6)
    assert (by_x.verdict, by_x.oracle_agrees, by_x.expected) == ("match", False, True)

    # The norm of a zero vector has the gradient nan in MindSpore, and 0 in PyTorch.
    by_v = row(whole, BY_SECOND)
    all_say(by_v, {"dv": np.full(2, np.nan)}, FLOAT32, MINDSPORE)
    all_say(by_v, {"dv": np.zeros(2)}, FLOAT32, TORCH)
    assert (by_v.verdict, by_v.expected) == ("differs", True)
    assert "PyTorch's norm answers 0" in by_v.reason
    divergences = [alignment.divergence for alignment in whole.alignments if alignment.divergence]
    assert divergences
    assert all("Sqrt" in sentence(divergence, ("a", "b")) for divergence in divergences)
