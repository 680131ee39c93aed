"""An attention block: every way by which the gradient of its result reaches the input."""

import numpy as np
import pytest

from explorer.model.graph import GradGraph, Node
from tests.support.scenario_reports import (
    FLOAT32,
    MINDSPORE,
    WHOLE,
    Floats,
    Reports,
    all_say,
    graph,
    origins,
    output_called,
    row,
    value,
    values_of,
)
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]


def attention_gradients(leaves: dict[str, Floats]) -> dict[str, Floats]:
    """The backward of the block by hand.

    Layer norm, residual, values, softmax, scores, and the three maps of x.
    """
    x, gamma = leaves["x"], leaves["norm.weight"]
    query, key, value = (x @ leaves[f"{name}.weight"].T for name in ("query", "key", "value"))
    raised = np.exp(query @ key.T / 2)
    share = raised / raised.sum(axis=1, keepdims=True)
    mixed = x + share @ value
    spread = np.sqrt(mixed.var(axis=1, keepdims=True) + 1e-5)
    normed = (mixed - mixed.mean(axis=1, keepdims=True)) / spread

    dout = 3 * (normed * gamma + leaves["norm.bias"]) ** 2
    dn = dout * gamma
    centred = dn - dn.mean(axis=1, keepdims=True)
    dm = (centred - normed * (dn * normed).mean(axis=1, keepdims=True)) / spread
    dshare = dm @ value.T
    dscores = share * (dshare - (dshare * share).sum(axis=1, keepdims=True)) / 2
    through = {"query": dscores @ key, "key": dscores.T @ query, "value": share.T @ dm}

    gradients = {"dx": dm.copy()}
    for name, gradient in through.items():
        gradients["dx"] += gradient @ leaves[f"{name}.weight"]
        gradients[f"d{name}.weight"] = gradient.T @ x
    gradients["dnorm.weight"] = (dout * normed).sum(axis=0)
    gradients["dnorm.bias"] = dout.sum(axis=0)
    return gradients


def test_queries_keys_values_and_the_residual_all_send_gradients_to_the_input(
    report: Reports,
) -> None:
    whole = report("attention_block")
    all_say(row(whole, WHOLE), attention_gradients(values_of(whole)), FLOAT32)


@pytest.mark.parametrize("engine", MINDSPORE)
def test_the_backward_of_softmax_shows_what_it_hands_on(engine: str, report: Reports) -> None:
    captured = graph(report("attention_block"), engine)
    (node,) = (node for node in captured.nodes if node.op == "SoftmaxBackward")
    # The norm of the gradient with respect to the scores, which a plain PyTorch program gives.
    assert np.linalg.norm(value(node)) == pytest.approx(7.5818253, rel=1e-6)


def sums_before(captured: GradGraph, result: Node) -> list[Node]:
    """The sums of gradients that lead to a result without any other operator between them."""
    sums = []
    waiting = [result]
    while waiting:
        for origin in origins(captured, waiting.pop()):
            if origin.kind == "accumulate":
                sums.append(origin)
                waiting.append(origin)
    return sums


@pytest.mark.parametrize("engine", ENGINES)
def test_the_sums_of_the_gradients_of_the_input_derive_from_it_and_are_in_no_module(
    engine: str, report: Reports
) -> None:
    # The residual hands one gradient to the input and to the attention.
    captured = graph(report("attention_block"), engine)
    (leaf,) = (node for node in captured.nodes if node.kind == "input")
    sums = sums_before(captured, output_called(captured, "dx"))
    assert len(sums) == (1 if engine == "mindspore-graph" else 3)
    assert {(node.forward, node.scope) for node in sums} == {(leaf.id, "")}
