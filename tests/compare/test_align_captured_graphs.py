"""Aligned captured graphs: one-to-one pairs, planted mistakes, no divergence between equal engines."""

from typing import get_args

import msgspec
import pytest

from explorer.compare.align import align
from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.divergence import Divergence
from explorer.model.graph import GradGraph, Phase, SideName
from explorer.model.report import Report
from explorer.scenario.declaration import Declaration
from explorer.scenario.find import names
from explorer.scenario.load import load, module_of
from explorer.words.unpaired import detail
from explorer.workers.workers import Workers
from tests.support.alignments import said, sources
from tests.support.nets import NETS
from tests.support.samples import some
from tests.support.scenario_reports import Reports, each_scenario, graph

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

PLANTED = sorted(path.stem for path in (NETS / "planted").glob("*.py"))
TAPES = ("mindspore-tape", "torch-tape")

CONVOLUTION_NET = "conv_bn_relu_pool"
LEFT, RIGHT = "mindspore-graph", "torch-tape"
SIDES: dict[SideName, str] = {"left": LEFT, "right": RIGHT}

OPERATORS: dict[str, dict[Phase, set[str]]] = {
    LEFT: {
        "forward": {"Conv2D", "BatchNorm", "ReLU", "MaxPool", "MatMul", "BiasAdd"},
        "backward": {
            "Conv2DBackpropInput",
            "Conv2DBackpropFilter",
            "BatchNormGrad",
            "ReluGrad",
            "MaxPoolGrad",
            "MatMul",
            "BiasAddGrad",
        },
    },
    RIGHT: {
        "forward": {
            "aten.convolution.default",
            "aten.native_batch_norm.default",
            "aten.relu.default",
            "aten.max_pool2d_with_indices.default",
            "aten.addmm.default",
        },
        "backward": {
            "aten.convolution_backward.default",
            "aten.native_batch_norm_backward.default",
            "aten.threshold_backward.default",
            "aten.max_pool2d_with_indices_backward.default",
            "aten.mm.default",
            "aten.sum.dim_IntList",
        },
    },
}
"""The five operators and all their gradients, as each engine calls them."""

ONE_TO_ONE = {
    ("Conv2D", "aten.convolution.default", 0),
    ("BiasAdd", "aten.convolution.default", 0),
    ("Conv2DBackpropInput", "aten.convolution_backward.default", 0),
    ("Conv2DBackpropFilter", "aten.convolution_backward.default", 1),
    ("BiasAddGrad", "aten.convolution_backward.default", 2),
    ("BatchNorm", "aten.native_batch_norm.default", 0),
    ("BatchNormGrad", "aten.native_batch_norm_backward.default", 0),
    ("ReLU", "aten.relu.default", 0),
    ("ReluGrad", "aten.threshold_backward.default", 0),
    ("MaxPool", "aten.max_pool2d_with_indices.default", 0),
    ("MaxPoolGrad", "aten.max_pool2d_with_indices_backward.default", 0),
    ("MatMul", "aten.addmm.default", 0),
    ("BiasAdd", "aten.addmm.default", 0),
    ("MatMul", "aten.mm.default", 0),
    ("BiasAddGrad", "aten.sum.dim_IntList", 0),
}
"""MindSpore's operator, PyTorch's, and which of its outputs."""


def convolution_net(report: Reports) -> tuple[Alignment, dict[str, GradGraph]]:
    """The alignment of mindspore-graph, on the left, with torch-tape, and both graphs."""
    graphs = {engine: graph(report(CONVOLUTION_NET), engine) for engine in (LEFT, RIGHT)}
    return align(graphs[LEFT], graphs[RIGHT]), graphs


def unpaired(alignment: Alignment, graphs: dict[str, GradGraph]) -> set[str]:
    """The operators of OPERATORS of which some node is in no pair."""
    lone = set()
    for side, engine in SIDES.items():
        paired = {node for pair in alignment.pairs for node in pair.members(side)}
        for phase, operators in OPERATORS[engine].items():
            nodes = [node for node in graphs[engine].nodes if node.phase == phase]
            assert operators <= {node.op for node in nodes}
            lone |= {node.op for node in nodes if node.op in operators and node.id not in paired}
    return lone


def test_convolution_norm_relu_pooling_and_matmul_pair_one_to_one_with_their_gradients(
    report: Reports,
) -> None:
    alignment, graphs = convolution_net(report)
    assert unpaired(alignment, graphs) == set()
    left, right = graphs[LEFT].by_id(), graphs[RIGHT].by_id()
    pairs = set()
    for pair in alignment.pairs:
        for node in pair.members("left"):
            if left[node].kind == "op":
                pairs.add((left[node].op, right[pair.right].op, pair.right_output))
    assert pairs >= ONE_TO_ONE
    for lone in alignment.unpaired:
        assert lone.reason != "decomposed", lone
        assert detail(lone, (LEFT, RIGHT))


@pytest.mark.parametrize("side", get_args(SideName))
def test_no_output_is_in_two_pairs_and_no_step_inside_one_is_a_partner_elsewhere(
    report: Reports, side: SideName
) -> None:
    alignment, _ = convolution_net(report)
    slots = [(getattr(pair, side), getattr(pair, f"{side}_output")) for pair in alignment.pairs]
    steps = [node for pair in alignment.pairs for node in pair.members(side)[1:]]
    assert len(slots) == len(set(slots))
    assert len(steps) == len(set(steps))
    assert {node for node, _ in slots}.isdisjoint(steps)


def test_without_steps_inside_a_partner_and_further_outputs_the_bias_would_part_convolution_and_matmul(
    report: Reports,
) -> None:
    alignment, graphs = convolution_net(report)
    first_outputs = [pair for pair in alignment.pairs if not pair.right_output]
    plain = [
        msgspec.structs.replace(pair, left_within=(), right_within=()) for pair in first_outputs
    ]
    lone = unpaired(msgspec.structs.replace(alignment, pairs=tuple(plain)), graphs)
    assert lone == {"Conv2D", "MatMul", "Conv2DBackpropFilter", "BiasAddGrad"}


@pytest.mark.parametrize("name", each_scenario(names()))
def test_between_engines_that_agree_no_divergence_is_named(report: Reports, name: str) -> None:
    verdicts = {row.case.label: row.verdict for row in report(name).cases}
    for alignment in report(name).alignments:
        if verdicts.get(alignment.case, "match") in ("match", "close"):
            engines = alignment.left, alignment.right
            assert alignment.divergence is None, (engines, alignment.divergence)


@pytest.mark.parametrize("name", some(PLANTED, "detached_branch", "padding_side"))
def test_a_planted_migration_mistake_is_located_as_the_first_divergence(
    workers: Workers, name: str
) -> None:
    scenario = load(NETS / "planted" / f"{name}.py")
    report = explore(scenario, workers, engines=TAPES, selection="main")
    divergence = divergence_of_tapes(report)
    lines_of_both = sources(divergence)
    located = {source.rsplit("/", 1)[-1] for source in lines_of_both}
    assert located & faulty_lines(scenario), said(divergence)


def divergence_of_tapes(report: Report) -> Divergence:
    (alignment,) = (
        alignment
        for alignment in report.alignments
        if {alignment.left, alignment.right} == set(TAPES)
    )
    assert alignment.divergence is not None
    return alignment.divergence


def faulty_lines(scenario: Declaration) -> set[str]:
    """The lines that a planted scenario calls its fault, as "file:line"."""
    faults = module_of(scenario).FAULT.values()
    faulty = set()
    for number, line in enumerate(scenario.path.read_text().splitlines(), 1):
        if line.strip() in faults:
            faulty.add(f"{scenario.path.name}:{number}")
    return faulty
