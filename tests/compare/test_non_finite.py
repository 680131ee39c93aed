"""Where the first values that are not finite come from, on graphs written down by hand."""

import numpy as np
import pytest

from explorer.compare.results.remarks import non_finite
from explorer.model.arrays import AnyArray
from explorer.model.divergence import Place
from explorer.model.findings import MadeOf, NonFinite
from explorer.model.graph import GradGraph
from tests.support.handmade_graph import HandmadeGraph

X = np.array([1.0, 0.0], np.float32)
INVERSE = np.array([1.0, np.inf], np.float32)
FINITE = np.array([1.0, 2.0], np.float32)


def facts(graph: GradGraph) -> list[NonFinite]:
    found = [finding.fact for finding in non_finite([graph])]
    assert all(isinstance(fact, NonFinite) for fact in found)
    return found  # type: ignore[return-value]


def inverse(output: AnyArray, gradient: AnyArray) -> GradGraph:
    """y = 1 / x, and the gradient -1 / x² of its sum, with these values."""
    g = HandmadeGraph()
    x = g.leaf("x", "input", X)
    y = g.add("reciprocal", [x], value=output)
    g.result("y", y, output)
    seed = g.seed(value=np.ones(2, np.float32))
    dx = g.back("mul", y, [seed], [y], value=gradient)
    g.gradient("dx", dx, gradient)
    return g.record()


def test_where_no_result_is_nan_or_infinite_there_is_nothing_to_remark() -> None:
    assert facts(inverse(FINITE, FINITE)) == []


def test_an_output_and_the_gradient_behind_it_come_from_one_op() -> None:
    (fact,) = facts(inverse(INVERSE, -INVERSE))
    assert fact.maker == Place(label="reciprocal", source="net.py:12")
    assert fact.inputs == (MadeOf(Place(label="x", source="net.py:12"), 0.0),)
    assert (fact.value, fact.outputs, fact.gradients) == ("inf", ("y",), ("dx",))
    assert not fact.are_outputs_finite


def test_of_a_gradient_alone_that_is_not_finite_the_outputs_are_finite() -> None:
    (fact,) = facts(inverse(FINITE, -INVERSE))
    assert fact.maker == Place(label="mul", source="net.py:12")
    assert (fact.value, fact.outputs, fact.gradients) == ("-inf", (), ("dx",))
    assert fact.are_outputs_finite


@pytest.mark.parametrize("position", [0, 1])
def test_an_infinity_that_becomes_nan_names_the_op_that_turns_it(position: int) -> None:
    g = HandmadeGraph()
    x = g.leaf("x", "input", X)
    infinite = g.add("reciprocal", [x], value=INVERSE)
    operands = [infinite, x]
    nan = np.array([1.0, np.nan], np.float32)
    product = g.add("mul", [operands[position], operands[1 - position]], value=nan)
    g.result("y", product, nan)
    (fact,) = facts(g.record())
    assert fact.maker.label == "reciprocal"
    assert fact.turned is not None
    assert fact.turned.label == "mul"


def test_an_input_that_has_it_made_it() -> None:
    g = HandmadeGraph()
    nan = np.array([1.0, np.nan], np.float32)
    g.result("y", g.add("sub", [g.leaf("t", "input", nan)], value=nan), nan)
    (fact,) = facts(g.record())
    assert (fact.maker.label, fact.is_input, fact.value) == ("t", True, "nan")


def test_the_op_that_makes_it_is_found_behind_one_whose_value_was_not_recorded() -> None:
    g = HandmadeGraph()
    x = g.leaf("x", "input", X)
    infinite = g.add("reciprocal", [x], value=INVERSE)
    total = g.add("fused", [infinite])
    product = g.add("exp", [total], value=INVERSE)
    g.result("y", product, INVERSE)
    (fact,) = facts(g.record())
    assert fact.maker.label == "reciprocal"


def test_engines_that_name_gradients_in_another_order_have_one_remark() -> None:
    def net(engine: str, order: tuple[int, ...]) -> GradGraph:
        g = HandmadeGraph()
        leaves = [g.leaf(name, "input", X) for name in ("x", "w")]
        y = g.add("reciprocal", leaves, value=INVERSE)
        g.result("y", y, INVERSE)
        for place in order:
            dx = g.back("mul", y, [y], [y], value=-INVERSE)
            g.gradient(f"d{'xw'[place]}", dx, -INVERSE)
        return g.record(engine=engine)

    remarks = non_finite([net("torch-tape", (0, 1)), net("torch-graph", (1, 0))])
    (fact,) = (finding.fact for finding in remarks)
    assert isinstance(fact, NonFinite)
    assert fact.engines == ("torch-tape", "torch-graph")
