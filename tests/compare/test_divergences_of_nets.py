"""Nets with mistakes whose op and line are known: what is named first, and what else is listed."""

from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.graph import GradGraph, Output
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.words.causes import cause
from explorer.words.divergences import divergences
from explorer.words.findings import sentence
from explorer.workers.workers import Workers
from tests.support.nets import NETS

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

FIRST: dict[str, tuple[str, ...]] = {
    # A tensor that was saved and overwritten behind the tape: what was read in its place.
    "overwrite_exp": ("different inputs, `Exp` (overwrite_exp.py:14) against `aten.mul", ":26)"),
    "overwrite_part": (
        "`aten.sigmoid_backward.default` (overwrite_part.py:23)",
        "overwrite_part.py:25)",
    ),
    # Dead code, constants of one's own, and broadcasts.
    "dead_metric": (
        "`Muls` (dead_metric.py:20) and `aten.mul.Scalar` (dead_metric.py:35) take equal",
        "",
    ),
    "own_mask": ("only torch-tape has `aten.mul.Tensor` (own_mask.py:40)", ""),
    "shape_target": (
        "(shape_target.py:21)",
        "`p` as [3] against [3, 3] and `t` as [3] against [3, 3]",
    ),
    # An op that reads such a parameter, and is itself what one side alone has.
    "unread_scale": ("only torch-tape has `aten.mul.Tensor` (unread_scale.py:38)", ""),
    "other_axis": ("`aten.add.Tensor` (other_axis.py:27)", "`b` as [3, 1] against [3]"),
    # Two differences that meet in one sum.
    "three_kinks": ("`aten.hardtanh_backward.default` (three_kinks.py:2", "take equal inputs"),
    "two_branches": ("`aten.silu.default` (two_branches.py:36)", "(two_branches.py:19)"),
    # One cause at several places.
    "five_gelus": ("(blocks.0.act, five_gelus.py:45)", "follow at `blocks.1.act"),
    "small_gelus": ("(blocks.2.act, small_gelus.py:", "agree within their noise at `blocks.0.act"),
    # Blocks that are computed again in backward.
    "checkpoint_mistake": (
        "`Sigmoid` (two, checkpoint_mistake.py:20) and `aten.tanh.default` (two,",
        "checkpoint_mistake.py:48)",
    ),
    # Not the zeros that the loop begins with, which PyTorch's tape detaches too.
    "truncated": (
        "torch-tape stops the gradient in `aten.detach.default` (truncated.py:57)",
        "passes it on in `MatMul` (onwards, truncated.py:35)",
    ),
    # Parts of one split; not all ops up to the next layer of the kind; a mask of one's own.
    "gates": ("different inputs, `Contiguous` (gates.py:34) against `aten.split", "gates.py:57)"),
    "output_padding": (
        "the 3 ops from `Conv2DTranspose` (up, output_padding.py:22) to `Pad`",
        "`aten.convolution.default` (up, output_padding.py:39) take equal inputs",
    ),
    "mask_of_diagonal": (
        "different inputs, `constant` and `constant` against `mask`",
        "`aten.masked_fill.Scalar` (mask_of_diagonal.py:36)",
    ),
    # Values that one net alone rounds, so coarsely that its own noise covers the difference.
    "rounded_hidden": (
        "mindspore-tape rounds a value to `float16` in `Cast` (rounded_hidden.py:32), torch-tape goes on",
        "in `float32` with `aten.tanh.default` (rounded_hidden.py:50)",
    ),
    "layer_in_half": (
        "torch-tape rounds a value to `bfloat16` in `aten._to_copy.default` (two, layer_in_half.py:49)",
        "in `float32` with `BiasAdd` (two, layer_in_half.py:31)",
    ),
    "summed_in_half": (
        "mindspore-tape rounds a value to `float16` in `Cast` (summed_in_half.py:33), torch-tape goes on",
        "in `float32` with `aten.mean.default` (summed_in_half.py:50)",
    ),
    # Running statistics alone.
    "momentum": ("`BatchNorm` (first, momentum.py:22)", "values of `first.running_mean`"),
}
"""Parts of the first divergence of the tapes."""

GRAPHS = {
    "summed_in_half": (
        "mindspore-graph rounds a value to `float16` in `Cast` (summed_in_half.py:33), torch-tape goes on",
        "in `float32` with `aten.mean.default` (summed_in_half.py:50)",
    ),
    "truncated": (
        "`aten.detach.default` (truncated.py:57), mindspore-graph passes it on in `MatMul`",
    ),
    "gates": ("different inputs, `Split` (gates.py:34) against `aten.split", "gates.py:57)"),
    "output_padding": (
        "the 2 ops from `BiasAdd` (up, output_padding.py:22) to `Pad`",
        "`aten.convolution.default` (up, output_padding.py:39) take equal inputs",
    ),
}
"""Parts of the first divergence between MindSpore's graph and PyTorch's tape."""

FURTHER = {
    "three_kinks": "three_kinks.py:",
    "two_branches": "`aten.relu.default` (two_branches.py:37)",
    "dead_metric": "`aten.mul.Scalar` (dead_metric.py:35)",
    "truncated": "torch-tape adds the gradient from `aten.mm.default` (onwards, truncated.py:58) in",
    "momentum": "(second, momentum.py:39) give different values of `second.running_mean`",
}
"""A part of the only further one."""

REMARKS = {
    "nan_log": "not finite: the output `out` in mindspore-tape: `Log` (nan_log.py:16) makes -inf from 0"
    " of `p`, of which `Mul` (nan_log.py:16) makes nan",
    "nan_std": "not finite: dx, while the outputs are finite, in mindspore-tape: `SqrtBackward`"
    " (nan_std.py:15) makes inf from",
    "nan_target": "not finite: the output `out`, and then dx, dfc.weight, dfc.bias in both tape"
    " engines: `t` itself has nan",
    "column_of_a_layer": "(column_of_a_layer.py:25) of mindspore-tape takes the shapes (4, 1) and"
    " (4,) and makes (4, 4) of them",
    "shape_target": "`aten.mse_loss.default` (shape_target.py:32) of torch-tape takes the shapes"
    " (3, 1) and (3,)",
}
"""The beginning, or a part, of the first remark."""

TAPES = ("mindspore-tape", "torch-tape")


def report_of(name: str, workers: Workers, engines: tuple[str, str] = TAPES) -> Report:
    scenario = load(NETS / "divergences" / f"{name}.py")
    return explore(scenario, workers, engines=engines, selection="main")


def aligned(report: Report) -> Alignment:
    (alignment,) = report.alignments
    return alignment


@pytest.mark.parametrize("name", FIRST)
def test_the_first_divergence_is_at_the_op_and_line_that_differ(
    workers: Workers, name: str
) -> None:
    first, *further = divergences(aligned(report_of(name, workers)))
    for part in FIRST[name]:
        assert part in first
    assert len(further) == (name in FURTHER)
    for text in further:
        assert FURTHER[name] in text


@pytest.mark.parametrize("name", GRAPHS)
def test_the_divergence_of_a_compiled_graph_is_at_the_op_and_line_that_differ(
    workers: Workers, name: str
) -> None:
    report = report_of(name, workers, ("mindspore-graph", "torch-tape"))
    first, *further = divergences(aligned(report))
    for part in GRAPHS[name]:
        assert part in first
    assert len(further) == (name in FURTHER)
    for text in further:
        assert FURTHER[name] in text


def test_a_counter_of_a_block_that_is_computed_again_comes_from_its_last_sum(
    workers: Workers,
) -> None:
    report = report_of("counted_again", workers, ("mindspore-graph", "mindspore-tape"))
    (only,) = divergences(aligned(report))
    assert "`AddExt` (block, counted_again.py:25) in mindspore-tape" in only
    assert "1 against 2" in only
    for graph in report.graphs:
        assert [node.op for node in graph.nodes if node.proof == "refuted"] == []


@pytest.mark.parametrize("name", REMARKS)
def test_what_is_not_finite_and_what_is_broadcast_is_remarked(workers: Workers, name: str) -> None:
    remarks = [sentence(finding) for finding in report_of(name, workers).findings]
    assert REMARKS[name] in remarks[0]


def test_a_broadcast_that_is_meant_is_not_remarked(workers: Workers) -> None:
    report = report_of("column_and_outer", workers)
    assert report.findings == ()
    assert aligned(report).divergence is None


@pytest.mark.parametrize("engines", [TAPES, ("mindspore-graph", "torch-graph")])
def test_nets_that_both_round_are_not_parted_by_it(
    workers: Workers, engines: tuple[str, str]
) -> None:
    report = report_of("half_on_both", workers, engines)
    assert {output.dtype for graph in report.graphs for output in _outputs(graph)} >= {"float16"}
    assert aligned(report).divergences == ()


def _outputs(graph: GradGraph) -> list[Output]:
    return [output for node in graph.nodes for output in node.outputs]


def test_a_parameter_that_both_hold_and_one_reads_is_named(workers: Workers) -> None:
    scenario = load(NETS / "divergences" / "unread_bias.py")
    engines = ("mindspore-graph", "torch-graph")
    (alignment,) = explore(scenario, workers, engines=engines, selection="main").alignments
    said = next(iter(divergences(alignment)))
    assert "`aten.addmm.default` (unread_bias.py:44) of torch-graph reads the parameter" in said
    assert "`back.bias`, which nothing in mindspore-graph reads" in said
    assert "with zeros in the place of `back.bias`" in cause(alignment)


def test_what_differs_ahead_of_such_a_parameter_comes_first(
    workers: Workers, tmp_path: Path
) -> None:
    source = (NETS / "divergences" / "unread_scale.py").read_text()
    old, new = "torch.tanh(self.up(x) * self.scale) ** 2", "torch.sigmoid(self.up(x)) ** self.scale"
    assert old in source
    path = tmp_path / "ahead.py"
    path.write_text(source.replace(old, new))
    engines = ("mindspore-tape", "torch-tape")
    (alignment,) = explore(load(path), workers, engines=engines, selection="main").alignments
    said = next(iter(divergences(alignment)))
    assert "`aten.sigmoid.default` (ahead.py:38)" in said
