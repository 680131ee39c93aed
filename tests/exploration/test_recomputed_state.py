"""Buffers that a recomputed block changes: backward moves them once more, and each engine shows that."""

from pathlib import Path

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.graph import Absence
from explorer.model.report import Report
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.words.divergences import first_divergence
from explorer.workers.workers import Workers
from tests.support.nets import net_file
from tests.support.samples import some
from tests.support.scenario_files import Side, scenario_text, written

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

ONCE, TWICE = 0.4125, 0.78375
"""The running mean of 4.125 at momentum 0.1 after one and after two forwards, from 0."""


def states(report: Report, name: str) -> dict[str, float]:
    """The value of a buffer in the last graph of each engine."""
    found = {}
    for graph in report.graphs:
        for node in graph.nodes:
            if node.kind == "output" and node.name == name and node.outputs[0].values:
                whole = node.outputs[0].values.whole
                assert whole is not None
                found[graph.engine] = float(unpack(whole).ravel()[0])
    return found


def test_a_running_mean_is_what_the_whole_call_leaves(workers: Workers) -> None:
    report = explore(load(net_file("recomputed_norm")), workers, selection="main")
    (case,) = report.cases
    assert case.verdict in ("match", "close")
    assert case.oracle_agrees
    assert not report.ungraphed
    # AOTAutograd's joint graph holds the block once, and so moves its statistics once.
    assert states(report, "block.bn.running_mean") == pytest.approx(
        {
            "mindspore-graph": TWICE,
            "mindspore-tape": TWICE,
            "torch-tape": TWICE,
            "torch-graph": ONCE,
        },
        rel=1e-5,
    )
    rows = {row.name: row for row in report.state}
    moved = rows["block.bn.running_mean"]
    assert [group.engines for group in moved.groups] == [
        ("mindspore-graph", "mindspore-tape", "torch-tape"),
        ("torch-graph",),
    ]
    counter = rows["block.bn.num_batches_tracked"]
    assert [int(unpack(group.after)) for group in counter.groups] == [2, 1]
    assert counter.absent == ("mindspore-graph", "mindspore-tape")
    for graph in report.graphs:
        assert lint(graph) == []
        if graph.engine == "mindspore-tape":
            # Memory that the kernel never writes is no value where the block runs again either.
            norms = [node.missing for node in graph.nodes if node.op == "BatchNorm"]
            assert norms == [{"values": Absence("unwritten_outputs", "1, 2")}] * 2
    for alignment in report.alignments:
        differs = "torch-graph" in (alignment.left, alignment.right)
        assert (alignment.divergence is not None) is differs
        if alignment.divergence:
            assert alignment.divergence.phase == "backward"
            assert "`block.bn.running_mean`" in first_divergence(alignment)


@pytest.mark.whole
def test_a_block_that_is_checkpointed_reentrantly_has_its_graph_and_links(
    workers: Workers, tmp_path: Path
) -> None:
    text = net_file("recomputed_norm").read_text(encoding="utf-8")
    path = written(tmp_path, text.replace("use_reentrant=False", "use_reentrant=True"))
    report = explore(load(path), workers, selection="main")
    assert not report.ungraphed
    assert states(report, "block.bn.running_mean")["torch-tape"] == pytest.approx(TWICE, rel=1e-5)
    (graph,) = (graph for graph in report.graphs if graph.engine == "torch-tape")
    assert lint(graph) == []
    # Its operators make no tape nodes in forward: they are known by those of the second run.
    nodes = graph.by_id()
    backward = [node for node in graph.nodes if node.phase == "backward"]
    links = [(node.op, nodes[node.forward].op) for node in backward if node.forward]
    norm, product, leaf = "aten.native_batch_norm.default", "aten.mul.Tensor", "input"
    assert (norm, norm) in links
    assert ("aten.native_batch_norm_backward.default", norm) in links
    assert {forward for op, forward in links if op == product} == {product}
    assert {forward for op, forward in links if op == "output"} >= {leaf}


def test_without_recomputation_a_buffer_is_a_result_of_the_forward(workers: Workers) -> None:
    report = explore(load(find("conv_bn_relu_pool")), workers, selection="main")
    for graph in report.graphs:
        for node in graph.nodes:
            if node.kind == "output":
                assert (node.phase == "backward") is node.name.startswith("d"), graph.engine
                # By this link a picture knows a gradient from a buffer.
                assert (node.forward is not None) is node.name.startswith("d"), graph.engine


INPUTS = 'return {"x": np.array([[3.1, -1.2], [4.2, 0.3], [5.3, 2.2], [4.4, -0.7]], np.float32)}'

BLOCK = """
from torch.utils.checkpoint import checkpoint

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        {changed}
"""


def torch_alone(made: str, changed: str) -> str:
    """A scenario whose net in PyTorch computes a block again in backward."""
    before = BLOCK.format(made=made, changed=changed)
    last = "return (checkpoint(self.block, x, use_reentrant=False) ** 2).sum()"
    return scenario_text(INPUTS, None, Side("self.block = Block()", last, before))


BLOCKS = {
    "in place": (
        "self.register_buffer('ema', torch.tensor([0.5, 0.25]))",
        "self.ema.mul_(0.9).add_(0.1 * x.detach().mean(0)); return torch.tanh(x) * 1.5",
    ),
    "an element": (
        "self.register_buffer('ema', torch.zeros(3))",
        "self.ema[1] += x.detach().mean(); return torch.tanh(x) * 1.5",
    ),
    "a nested checkpoint": (
        "self.norm = nn.BatchNorm1d(2)",
        "return checkpoint(self.norm, x, use_reentrant=False) ** 3",
    ),
}


@pytest.mark.parametrize("name", some(BLOCKS, "an element"))
def test_a_recomputed_block_may_change_its_buffers_in_any_way(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    made, changed = BLOCKS[name]
    path = written(tmp_path, torch_alone(made, changed))
    report = explore(load(path), workers, engines=("torch-tape",), selection="main")
    (case,) = report.cases
    assert case.results["torch-tape"].outcome == "ok"
    (graph,) = report.graphs
    assert lint(graph) == []
    changed_in_backward = [
        node for node in graph.nodes if node.kind == "output" and not node.name.startswith("d")
    ]
    assert "backward" in {node.phase for node in changed_in_backward}
    assert "refuted" not in {node.proof for node in graph.nodes}
    # What writes a buffer through a view, of all of it or of a part, is proven as if it wrote the buffer.
    in_part = Absence("written_in_part")
    assert [node for node in graph.nodes if node.missing.get("proof") == in_part] == []
    # A result is fed by one node, and holds what that one yields.
    nodes = graph.by_id()
    for node in (node for node in graph.nodes if node.kind == "output"):
        (edge,) = (edge for edge in graph.edges if edge.target == node.id)
        fed = nodes[edge.origin].outputs[edge.output].values
        shown = node.outputs[0].values
        assert fed is not None
        assert shown is not None
        np.testing.assert_allclose(fed.quantiles, shown.quantiles, rtol=1e-6)


def test_a_buffer_that_becomes_memory_that_nothing_fills_costs_no_graph(
    tmp_path: Path, workers: Workers
) -> None:
    # No value that fresh memory is likely to hold.
    made = "self.register_buffer('ema', torch.full((2,), 7.25))"
    changed = "self.ema = torch.empty(2); return torch.tanh(x) * 1.5"
    path = written(tmp_path, torch_alone(made, changed))
    report = explore(load(path), workers, engines=("torch-tape",), selection="main")
    (graph,) = report.graphs
    assert lint(graph) == []
    (buffer,) = (node for node in graph.nodes if node.name == "block.ema" and node.kind == "output")
    assert buffer.phase == "backward"
