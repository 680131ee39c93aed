"""Aligned captured graphs: one-to-one pairs, planted mistakes, no divergence between equal engines."""

from pathlib import Path
from typing import get_args

import pytest

from explorer.compare.align import align
from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph, SideName
from explorer.scenario.find import names
from explorer.scenario.load import load
from explorer.words.unpaired import detail
from explorer.workers.workers import Workers
from tests.support.alignments import said, sources
from tests.support.samples import some
from tests.support.scenario_files import Side, normal, scenario_text, written
from tests.support.scenario_reports import Reports, each_scenario, graph

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = ("mindspore-tape", "torch-tape")

CONVOLUTION_NET = "conv_bn_relu_pool"
LEFT, RIGHT = "mindspore-graph", "torch-tape"
SIDES: dict[SideName, str] = {"left": LEFT, "right": RIGHT}

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
"""MindSpore's operator, PyTorch's, and which of its outputs: five operators and their gradients."""

OPERATORS = {
    LEFT: {mindspore for mindspore, _, _ in ONE_TO_ONE},
    RIGHT: {torch for _, torch, _ in ONE_TO_ONE},
}


def convolution_net(report: Reports) -> tuple[Alignment, dict[str, GradGraph]]:
    """The alignment of mindspore-graph, on the left, with torch-tape, and both graphs."""
    graphs = {engine: graph(report(CONVOLUTION_NET), engine) for engine in (LEFT, RIGHT)}
    return align(graphs[LEFT], graphs[RIGHT]), graphs


def unpaired(alignment: Alignment, graphs: dict[str, GradGraph]) -> set[str]:
    """The operators of OPERATORS of which some node is in no pair."""
    lone = set()
    for side, engine in SIDES.items():
        paired = {node for pair in alignment.pairs for node in pair.members(side)}
        nodes = [node for node in graphs[engine].nodes if node.op in OPERATORS[engine]]
        assert OPERATORS[engine] == {node.op for node in nodes}
        lone |= {node.op for node in nodes if node.id not in paired}
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


@pytest.mark.parametrize("name", each_scenario(names()))
def test_between_engines_that_agree_no_divergence_is_named(report: Reports, name: str) -> None:
    verdicts = {row.case.label: row.verdict for row in report(name).cases}
    for alignment in report(name).alignments:
        if verdicts.get(alignment.case, "match") in ("match", "close"):
            engines = alignment.left, alignment.right
            assert alignment.divergence is None, (engines, alignment.divergence)


DENSE, LINEAR = "self.up = nn.Dense(4, 4)", "self.up = nn.Linear(4, 4)"

MISTAKES = {
    # The original lets no gradient through its gate: the forward is the same to the last bit.
    "detached_branch": (
        normal(5, 4),
        Side(DENSE, "h = self.up(x)\ngate = ops.sigmoid(h)  # mistake\nh = h * gate"),
        Side(LINEAR, "h = self.up(x)\ngate = torch.sigmoid(h.detach())  # mistake\nh = h * gate"),
    ),
    # F.dropout drops whatever the module's mode is; the layer follows it.
    "dropout_left_on": (
        normal(5, 4),
        Side(
            f"{DENSE}\nself.drop = nn.Dropout(p=0.5)",
            "h = ops.tanh(self.up(x))\nh = self.drop(h)  # mistake",
        ),
        Side(
            f"{LINEAR}\ntorch.manual_seed(0)",
            "h = torch.tanh(self.up(x))\nh = F.dropout(h, 0.5)  # mistake",
        ),
    ),
    # The other operand of the sum is the same tensor, which the original doubles in place: 4 h, not 3 h.
    "in_place_change": (
        normal(5, 4),
        Side(DENSE, "h = self.up(x)\nh = h + h * 2.0  # mistake"),
        Side(LINEAR, "h = self.up(x)\nh = h + h.mul_(2.0)  # mistake"),
    ),
    # The original pads left and top, the port's "same" pads right and bottom: the shapes agree.
    "padding_side": (
        normal(2, 2, 5, 5),
        Side(
            'self.conv = nn.Conv2d(2, 3, 2, pad_mode="same", has_bias=True)',
            "h = ops.tanh(x)\nh = self.conv(h)  # mistake",
        ),
        Side(
            "self.conv = nn.Conv2d(2, 3, 2)",
            "h = torch.tanh(x)\nh = self.conv(F.pad(h, (1, 0, 1, 0)))  # mistake",
        ),
    ),
}
"""Inputs and both sides of nets that compute ``h``, whose mistake is in one line of each."""

SQUARED = {
    "mindspore": "\nh = ops.relu(h)\nreturn (h * h).mean()",
    "torch": "\nh = torch.relu(h)\nreturn (h * h).mean()",
}


@pytest.mark.parametrize("name", some(MISTAKES, "detached_branch", "padding_side"))
def test_a_planted_migration_mistake_is_located_as_the_first_divergence(
    workers: Workers, tmp_path: Path, name: str
) -> None:
    inputs, mindspore, torch = MISTAKES[name]
    sides = (
        Side(mindspore.layers, mindspore.lines + SQUARED["mindspore"]),
        Side(torch.layers, torch.lines + SQUARED["torch"]),
    )
    path = written(tmp_path, scenario_text(inputs, *sides, head=""), f"{name}.py")
    report = explore(load(path), workers, engines=TAPES, selection="main")
    (alignment,) = report.alignments
    assert alignment.divergence is not None
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    faulty = {f"{path.name}:{number}" for number, line in lines if "# mistake" in line}
    assert len(faulty) == 2
    located = {source.rsplit("/", 1)[-1] for source in sources(alignment.divergence)}
    assert located & faulty, said(alignment.divergence)
