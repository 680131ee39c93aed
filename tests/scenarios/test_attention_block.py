"""An attention block: where the gradients of its input are added up."""

import pytest

from explorer.model.graph import GradGraph, Node
from tests.support.scenario_reports import Reports, graph, origins, output_called
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]


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
