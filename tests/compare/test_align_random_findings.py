"""Nets that random search found: what was captured or aligned wrongly in them once."""

import pytest

from explorer.exploration.explore import explore
from explorer.model.cases import GradCase
from explorer.model.divergence import Divergence, GradientAdded
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.nets import net_file
from tests.support.samples import some
from tests.support.scenario_reports import graph as graph_of

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

NESTED = GradCase("grad", 0, order=2)


def explored(name: str, workers: Workers, case: GradCase) -> Report:
    return explore(
        load(net_file(name)), workers, order=case.order, graph_case=case.label, selection="main"
    )


def test_a_square_matrix_is_told_from_its_transpose_that_shares_its_memory(
    workers: Workers,
) -> None:
    report = explored("square_transposed", workers, GradCase("grad", 0))
    graph = graph_of(report, "mindspore-tape")
    (product,) = [
        node for node in graph.nodes if node.op == "MatMulExt" and node.phase == "forward"
    ]
    operands = {edge.input: edge.origin for edge in graph.edges if edge.target == product.id}
    assert graph.by_id()[operands[0]].kind == "input"
    assert graph.by_id()[operands[1]].kind == "op"
    for engine in ("mindspore-graph", "mindspore-tape", "torch-tape", "torch-graph"):
        assert {node.proof for node in graph_of(report, engine).nodes} <= {"proven", ""}, engine
    for alignment in report.alignments:
        assert alignment.divergence is None
        wrong = [node.node for node in alignment.unpaired if node.reason == "refuted"]
        assert wrong == []


@pytest.mark.whole
def test_in_a_gradient_of_a_gradient_the_inner_one_is_no_output_of_the_net(
    workers: Workers,
) -> None:
    report = explored("square", workers, NESTED)
    (case,) = report.cases
    assert case.verdict == "match"
    for graph in report.graphs:
        forward = [
            node for node in graph.nodes if node.kind == "output" and node.phase == "forward"
        ]
        for node in forward:
            assert node.outputs[0].shape == (), graph.engine  # the loss
    for alignment in report.alignments:
        assert alignment.divergence is None, (alignment.left, alignment.right)
        assert alignment.differing == ()


@pytest.mark.parametrize(
    "name",
    some(
        (
            "product_of_column",
            "gelu_in_double",
            "power_in_half",
            "stacked_twice",
            "mean_of_product",
            "clamped_twice",
        ),
        "gelu_in_double",
    ),
)
def test_no_value_is_called_wrong_that_is_right(name: str, workers: Workers) -> None:
    report = explored(name, workers, GradCase("grad", 0))
    assert report.cases[0].oracle_agrees
    for graph in report.graphs:
        refuted = [node.op for node in graph.nodes if node.proof == "refuted"]
        assert refuted == [], graph.engine
    for alignment in report.alignments:
        wrong = [node.node for node in alignment.unpaired if node.reason == "refuted"]
        assert wrong == []


TAPES_AND_GRAPHS_OF_BOTH = [
    (mindspore, torch)
    for mindspore in ("mindspore-graph", "mindspore-tape")
    for torch in ("torch-tape", "torch-graph")
]


def divergences(report: Report) -> dict[tuple[str, str], Divergence]:
    """The first divergence of each engine of MindSpore's from each of PyTorch's."""
    told = {(each.left, each.right): each.divergence for each in report.alignments}
    between = {pair: told[pair] for pair in TAPES_AND_GRAPHS_OF_BOTH}
    assert None not in between.values()
    return {pair: divergence for pair, divergence in between.items() if divergence}


@pytest.mark.whole
def test_a_sort_that_rounds_to_single_precision_is_named_and_not_what_reads_it(
    workers: Workers,
) -> None:
    report = explored("sorted_in_double", workers, GradCase("grad", (0, 1)))
    for (mindspore, torch), divergence in divergences(report).items():
        left = graph_of(report, mindspore).by_id()[divergence.nodes[0] or ""]
        right = graph_of(report, torch).by_id()[divergence.nodes[1] or ""]
        assert (left.op, right.op) == ("Sort", "aten.sort.default")
        assert divergence.gap.greatest == pytest.approx(0, abs=1e-7)


@pytest.mark.whole
def test_graphs_of_results_that_are_close_have_no_divergence(workers: Workers) -> None:
    # In the graphs' own figures the results are 25 times the noise apart, element by element 8.4.
    report = explored("rounded_mish", workers, GradCase("grad", 0))
    assert (report.cases[0].verdict, report.cases[0].oracle_agrees) == ("close", True)
    for alignment in report.alignments:
        assert (alignment.divergence, alignment.differing) == (None, ())
        assert alignment.contradictions == ()


@pytest.mark.whole
def test_formulas_that_round_otherwise_are_compared_where_they_come_to_one_quantity(
    workers: Workers,
) -> None:
    report = explored("distance_in_double", workers, GradCase("grad", (0, 1)))
    assert report.cases[0].oracle_agrees
    for divergence in divergences(report).values():
        assert not isinstance(divergence, GradientAdded)
        assert divergence.gap.greatest == pytest.approx(0, abs=1e-5)
