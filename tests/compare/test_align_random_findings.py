"""Nets that random search found: what was captured or aligned wrongly in them once."""

from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.cases import GradCase
from explorer.model.divergence import Divergence, GradientAdded
from explorer.model.graph import GradGraph
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.nets import net_file
from tests.support.samples import some
from tests.support.scenario_files import Side, scenario_text, written
from tests.support.twin_nets import TWINS

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

NESTED = GradCase("grad", 0, order=2)


ROWS = {
    "clamped": "[[0.125, 0.171875, 1.59375], [0.6875, -0.875, -0.5625], [1.796875, -0.140625, -0.53125]]",
    "sorted": "[[1.40625, -1.1875, 0.484375], [-1.40625, 1.53125, -0.53125]]",
    "beside": "[[1.734375, 1.359375, -1.828125], [-1.046875, -1.984375, 1.609375]]",
}

FOUND = {
    # The compiler makes two kernels of the clamp by two bounds, one of the other.
    "clamped_twice": (
        {"a": f"np.array({ROWS['clamped']}, np.float32)"},
        "both = ops.clamp(a, -0.75, 0.875)\n"
        "return ops.clamp(ops.repeat_interleave(both, 2, 1), min=-0.25).sum()",
        "both = torch.clamp(a, -0.75, 0.875)\n"
        "return torch.clamp(torch.repeat_interleave(both, 2, 1), min=-0.25).sum()",
    ),
    # MindSpore's gradient of l1_loss is that of single precision.
    "distance_in_double": (
        {
            "a": "np.array([-1.671875, 0.84375, -0.921875], np.float64)",
            "b": "np.array([0.734375, 1.34375, -1.4375], np.float64)",
        },
        "return ops.l1_loss(b * 3.0, a).sum()",
        "return F.l1_loss(b * 3.0, a).sum()",
    ),
    # A compiled graph rounds less often than its kernels alone do.
    "power_in_half": (
        {"b": "np.array([[-0.75, -0.71875, 1.78125, -0.515625]], np.float16)"},
        "return (2.0 ** ops.tanh(b)).sum()",
        "return (2.0 ** torch.tanh(b)).sum()",
    ),
    # MindSpore's kernels round the gradient of mish more than those around it.
    "rounded_mish": (
        {"b": "np.array([-1.140625, -1.359375, -0.65625, -1.71875], np.float32)"},
        "return ops.mish(ops.atan2(b, 1.0 / (2.0 + ops.cos(b)))).sum()",
        "return F.mish(torch.atan2(b, 1.0 / (2.0 + torch.cos(b)))).sum()",
    ),
    # MindSpore's sort yields numbers of single precision.
    "sorted_in_double": (
        {
            "a": f"np.array({ROWS['sorted']}, np.float64)",
            "b": f"np.array({ROWS['beside']}, np.float64)",
        },
        "return ops.hypot(b, ops.amax(ops.sort(ops.atan(a), 0)[0], 1, True)).sum()",
        "return torch.hypot(b, torch.amax(torch.sort(torch.atan(a), 0)[0], 1, True)).sum()",
    ),
    # One tensor is stacked with itself.
    "stacked_twice": (
        {"b": "np.array([1.0, -0.5, 2.0], np.float32)"},
        "return (ops.stack((b, b), 0) ** 2).sum()",
        "return (torch.stack((b, b), 0) ** 2).sum()",
    ),
}
"""The inputs of nets, and what each framework computes of them."""


def file_of(name: str, folder: Path) -> Path:
    """The file of a net of FOUND, or of the tests."""
    if name == "mean_of_product":
        # The compiler reshapes two tensors of one form, in an order of its own.
        text = TWINS["product_of_column"].replace(".sum()", ".mean()")
        return written(folder, text, f"{name}.py")
    if name not in FOUND:
        return net_file(name)
    arrays, mindspore, torch = FOUND[name]
    inputs = ", ".join(f'"{input_name}": {array}' for input_name, array in arrays.items())
    sides = Side("", mindspore), Side("", torch)
    text = scenario_text(f"return {{{inputs}}}", *sides, ", ".join(arrays), "")
    return written(folder, text, f"{name}.py")


def explored(name: str, workers: Workers, case: GradCase, folder: Path) -> Report:
    scenario = load(file_of(name, folder))
    return explore(scenario, workers, order=case.order, graph_case=case.label, selection="main")


def graph_of(report: Report, engine: str) -> GradGraph:
    return [graph for graph in report.graphs if graph.engine == engine][-1]


def test_a_square_matrix_is_told_from_its_transpose_that_shares_its_memory(
    workers: Workers, tmp_path: Path
) -> None:
    report = explored("square_transposed", workers, GradCase("grad", 0), tmp_path)
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
    workers: Workers, tmp_path: Path
) -> None:
    report = explored("square", workers, NESTED, tmp_path)
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
def test_no_value_is_called_wrong_that_is_right(
    name: str, workers: Workers, tmp_path: Path
) -> None:
    report = explored(name, workers, GradCase("grad", 0), tmp_path)
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
    workers: Workers, tmp_path: Path
) -> None:
    report = explored("sorted_in_double", workers, GradCase("grad", (0, 1)), tmp_path)
    for (mindspore, torch), divergence in divergences(report).items():
        left = graph_of(report, mindspore).by_id()[divergence.nodes[0] or ""]
        right = graph_of(report, torch).by_id()[divergence.nodes[1] or ""]
        assert (left.op, right.op) == ("Sort", "aten.sort.default")
        assert divergence.gap.greatest == pytest.approx(0, abs=1e-7)


@pytest.mark.whole
def test_graphs_of_results_that_are_close_have_no_divergence(
    workers: Workers, tmp_path: Path
) -> None:
    # In the graphs' own figures the results are 25 times the noise apart, element by element 8.4.
    report = explored("rounded_mish", workers, GradCase("grad", 0), tmp_path)
    assert (report.cases[0].verdict, report.cases[0].oracle_agrees) == ("close", True)
    for alignment in report.alignments:
        assert (alignment.divergence, alignment.differing) == (None, ())
        assert alignment.contradictions == ()


@pytest.mark.whole
def test_formulas_that_round_otherwise_are_compared_where_they_come_to_one_quantity(
    workers: Workers, tmp_path: Path
) -> None:
    report = explored("distance_in_double", workers, GradCase("grad", (0, 1)), tmp_path)
    assert report.cases[0].oracle_agrees
    for divergence in divergences(report).values():
        assert not isinstance(divergence, GradientAdded)
        assert divergence.gap.greatest == pytest.approx(0, abs=1e-5)
