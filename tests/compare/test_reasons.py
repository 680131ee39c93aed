"""Why a node has no partner."""

import numpy as np
import pytest

from explorer.compare.align import align
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph
from explorer.words.unpaired import detail
from tests.support.alignments import reasons
from tests.support.computed_graphs import ComputedGraph, Function, one_input
from tests.support.two_layer_nets import mindspore_net
from tests.support.written_nets import two_nets


def details(alignment: Alignment, graph: GradGraph) -> dict[str, str]:
    """What is said of the left side's ops without a partner."""
    nodes = graph.by_id()
    details = {}
    for unpaired in alignment.unpaired:
        if unpaired.side == "left":
            details[nodes[unpaired.node].op] = detail(unpaired, (alignment.left, alignment.right))
    return details


def test_what_follows_from_a_divergence_is_told_apart_from_it() -> None:
    left = mindspore_net()
    alignment = align(left, mindspore_net(ComputedGraph("spoiled", spoiled="ReLU")))
    why = reasons(alignment, "left", left)
    assert why["ReLU"] == "difference"
    assert {why[op] for op in ("Sub", "ReduceMean", "ReluGrad")} == {"consequence"}


STEPS: dict[str, Function] = {
    "Exp": np.exp,
    "Half": lambda x: x / 2,
    "Root": np.exp,
    "Double": lambda x: 2 * x,
}


def wave(engine: str, *steps: str) -> GradGraph:
    """sin(exp x) + cos(exp x), by one op each, or after steps that both use.

    What is used twice is a step inside neither.
    """

    def build(graph: ComputedGraph, x: int) -> int:
        read = [x]
        for step in steps:
            read.append(graph.op(step, STEPS[step], read[-1]))
        used = read[1:] or read
        exponential = np.exp(graph.values[x][0])
        sine = graph.op("Sin", lambda *values: np.sin(exponential), *used)
        cosine = graph.op("Cos", lambda *values: np.cos(exponential), *used)
        return graph.op("Add", np.add, sine, cosine)

    return one_input(engine, build)


@pytest.mark.parametrize(
    ("steps", "reason", "text"),
    [
        ((), "decomposed", "a step on the way to `Sin`, for which b has no ops of its own"),
        (("Half", "Root"), "fused", "on the way to `Sin` b has 2 ops where this graph has 1"),
        (("Double",), "decomposed", "a step on the way to `Sin`, for which b has 1 op of its own"),
    ],
)
def test_of_two_regions_towards_the_first_pair_the_one_with_fewer_ops_is_fused(
    steps: tuple[str, ...], reason: str, text: str
) -> None:
    left, right = wave("a", "Exp"), wave("b", *steps)
    alignment = align(left, right)
    assert alignment.divergence is None
    assert reasons(alignment, "left", left) == {"Exp": reason}
    assert reasons(alignment, "right", right) == dict.fromkeys(steps, "decomposed")
    assert details(alignment, left)["Exp"] == text


def test_a_value_that_is_a_further_output_on_the_other_side_says_which() -> None:
    x, statistic = np.array([1.0, 2.0, 4.0]), np.array([0.3, 0.9])
    left, right = ComputedGraph("a"), ComputedGraph("b")
    left.hold("Norm", x)
    left.hold("Statistic", statistic)
    right.hold("Norm", x, statistic)
    left_record = left.record()
    alignment = align(left_record, right.record())
    assert reasons(alignment, "left", left_record) == {"Statistic": "decomposed"}
    assert details(alignment, left_record)["Statistic"].startswith("output 1 of `Norm`")


def test_an_op_that_no_result_depends_on_is_bookkeeping() -> None:
    left, right = two_nets("""
        x = input: np.arange(1.0, 4)
        - unread = Log: np.log(x)
        out = Exp: np.exp(x)
    """)
    assert reasons(align(left, right), "left", left) == {"Log": "bookkeeping"}


def test_a_running_statistic_that_differs_is_bookkeeping() -> None:
    text = """
        - mean = parameter bn.running_mean: np.full(4, 0.5)
        + mean = parameter bn.running_mean: np.full(4, 0.7)
        out = Exp: np.exp(x)
    """
    alignment = align(*two_nets(text))
    assert alignment.divergence is None
    assert [unpaired.reason for unpaired in alignment.unpaired] == ["bookkeeping", "bookkeeping"]


@pytest.mark.parametrize(
    ("result", "reason"), [("result", "unobserved"), ("gradient", "difference")]
)
def test_a_result_that_the_other_side_lacks(result: str, reason: str) -> None:
    text = f"""
        y = Exp: np.exp(x)
        result out = y
        dx = Mul of y: 2 * y
        gradient dx = dx
        - {result} more = y
    """
    assert [unpaired.reason for unpaired in align(*two_nets(text)).unpaired] == [reason]
