"""Nets with mistakes whose op and line are known: what is named first, and what else is listed."""

from pathlib import Path
from typing import NamedTuple

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
from tests.support.diverging_nets import NETS, file_of, with_lines
from tests.support.nets import NETS as FILES
from tests.support.samples import some

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

Engines = tuple[str, str]

TAPES, COMPILED = ("mindspore-tape", "torch-tape"), ("mindspore-graph", "torch-tape")


class Row(NamedTuple):
    """A net, two engines, parts of the first divergence, and a part of the only further one.

    ``@{piece}`` is the place of the line that holds a piece.
    """

    net: str
    parts: tuple[str, ...]
    further: str = ""
    engines: Engines = TAPES


ROWS = {
    f"{row.net} {row.engines[0]}": row
    for row in (
        Row(
            "overwrite_exp",
            (
                "different inputs, `Exp` (@{ops.exp(x)}) against `aten.mul",
                "@{b.data.mul_(0.5)})",
            ),
        ),
        Row(
            "overwrite_part",
            ("`aten.sigmoid_backward.default` (@{torch.sigmoid(x)})", "@{b.data[1] = 0.0})"),
        ),
        # An op that reads a parameter of which the other side reads nothing is what one side alone has.
        Row("unread_scale", ("only torch-tape has `aten.mul.Tensor` (@{* self.scale)})",)),
        # What differs ahead of such a parameter comes first.
        Row("unread_scale_behind", ("`aten.sigmoid.default` (@{torch.sigmoid})",)),
        Row(
            "unread_bias",
            (
                "`aten.addmm.default` (@{torch.rnn_tanh_cell}) of torch-graph reads the parameter",
                "`back.bias`, which nothing in mindspore-graph reads",
            ),
            "(@{ops.matmul}) and `aten.addmm.default` (@{torch.rnn_tanh_cell}) take different",
            engines=("mindspore-graph", "torch-graph"),
        ),
        Row("other_axis", ("`aten.add.Tensor` (@{torch.tanh})", "`t` as [3, 1] against [3]")),
        Row(
            "two_branches",
            ("`aten.silu.default` (@{F.silu})", "(@{ops.mish})"),
            "`aten.relu.default` (@{F.relu})",
        ),
        Row(
            "truncated",
            # Not the zeros that the loop begins with, which PyTorch's tape detaches too.
            (
                "torch-tape stops the gradient in `aten.detach.default` (@{h.detach()})",
                "passes it on in `MatMul` (onwards, @{h = ops.tanh})",
            ),
            "torch-tape adds the gradient from `aten.mm.default` (onwards, @{h = torch.tanh}) in",
        ),
        Row(
            "truncated",
            ("`aten.detach.default` (@{h.detach()}), mindspore-graph passes it on in `MatMul`",),
            "torch-tape adds the gradient from `aten.mm.default` (onwards, @{h = torch.tanh}) in",
            COMPILED,
        ),
        Row(
            "gates",
            ("different inputs, `Contiguous` (@{ops.split}) against `aten.split", "@{.chunk(4})"),
        ),
        Row(
            "gates",
            ("different inputs, `Split` (@{ops.split}) against `aten.split", "@{.chunk(4})"),
            engines=COMPILED,
        ),
        Row(
            "output_padding",
            (
                "the 3 ops from `Conv2DTranspose` (up, @{ops.tanh}) to `Pad`",
                "`aten.convolution.default` (up, @{torch.tanh}) take equal inputs",
            ),
        ),
        Row(
            "output_padding",
            (
                "the 2 ops from `BiasAdd` (up, @{ops.tanh}) to `Pad`",
                "`aten.convolution.default` (up, @{torch.tanh}) take equal inputs",
            ),
            engines=COMPILED,
        ),
        Row(
            "mask_of_diagonal",
            (
                "different inputs, `constant` and `constant` against `mask`",
                "`aten.masked_fill.Scalar` (@{x.masked_fill})",
            ),
        ),
        Row(
            "rounded_hidden",
            (
                "mindspore-tape rounds a value to `float16` in `Cast` (@{ms.float16}),",
                "in `float32` with `aten.tanh.default` (@{torch.tanh})",
            ),
        ),
        Row(
            "layer_in_half",
            (
                "torch-tape rounds a value to `bfloat16` in `aten._to_copy.default` (two, @{out = })",
                "in `float32` with `BiasAdd` (two, @{ops.tanh})",
            ),
        ),
        *(
            Row(
                "summed_in_half",
                (
                    f"{engines[0]} rounds a value to `float16` in `Cast` (@{{ms.float16}}),",
                    "in `float32` with `aten.mean.default` (@{torch.tanh})",
                ),
                engines=engines,
            )
            for engines in (TAPES, COMPILED)
        ),
        Row(
            "momentum",
            ("`BatchNorm` (first, @{ops.tanh})", "values of `first.running_mean`"),
            "(second, @{torch.tanh}) give different values of `second.running_mean`",
        ),
    )
}

REMARKS = {
    "nan_log": "not finite: the output `out` in mindspore-tape: `Log` (@{ops.log}) makes -inf from 0"
    " of `x`, of which `Mul` (@{ops.log}) makes nan",
    "nan_std": "not finite: dx, while the outputs are finite, in mindspore-tape: `SqrtBackward`"
    " (@{ops.sqrt}) makes inf from",
    "nan_target": "not finite: the output `out`, and then dx, dfc.weight, dfc.bias in both tape"
    " engines: `t` itself has nan",
    "column_of_a_layer": "(@{ops.abs}) of mindspore-tape takes the shapes (4, 1) and"
    " (4,) and makes (4, 4) of them",
}
"""The beginning, or a part, of the first remark."""


def report_of(path: Path, workers: Workers, engines: Engines = TAPES) -> Report:
    return explore(load(path), workers, engines=engines, selection="main")


def aligned(report: Report) -> Alignment:
    (alignment,) = report.alignments
    return alignment


@pytest.mark.parametrize(
    "name",
    some(
        ROWS,
        "overwrite_exp mindspore-tape",
        "unread_bias mindspore-graph",
        "two_branches mindspore-tape",
        "truncated mindspore-graph",
        "layer_in_half mindspore-tape",
        "momentum mindspore-tape",
    ),
)
def test_the_first_divergence_is_at_the_op_and_line_that_differ(
    workers: Workers, tmp_path: Path, name: str
) -> None:
    row = ROWS[name]
    path = file_of(row.net, tmp_path)
    alignment = aligned(report_of(path, workers, row.engines))
    first, *further = divergences(alignment)
    for part in row.parts:
        assert with_lines(part, path) in first
    assert len(further) == bool(row.further)
    for text in further:
        assert with_lines(row.further, path) in text
    if row.net == "unread_bias":
        assert "with zeros in the place of `back.bias`" in cause(alignment)


@pytest.mark.whole
def test_a_mistake_behind_a_checkpoint_is_at_its_line(workers: Workers) -> None:
    report = report_of(FILES / "divergences" / "checkpoint_mistake.py", workers)
    (only,) = divergences(aligned(report))
    assert "`Sigmoid` (two, checkpoint_mistake.py:20) and `aten.tanh.default` (two," in only
    assert "checkpoint_mistake.py:48)" in only


@pytest.mark.whole
def test_a_counter_of_a_block_that_is_computed_again_comes_from_its_last_sum(
    workers: Workers,
) -> None:
    engines = ("mindspore-graph", "mindspore-tape")
    report = report_of(FILES / "divergences" / "counted_again.py", workers, engines)
    (only,) = divergences(aligned(report))
    assert "`AddExt` (block, counted_again.py:25) in mindspore-tape" in only
    assert "1 against 2" in only
    for graph in report.graphs:
        assert [node.op for node in graph.nodes if node.proof == "refuted"] == []


@pytest.mark.parametrize("name", some(REMARKS, "nan_std", "column_of_a_layer"))
def test_what_is_not_finite_and_what_is_broadcast_is_remarked(
    workers: Workers, tmp_path: Path, name: str
) -> None:
    path = file_of(name, tmp_path)
    remarks = [sentence(finding) for finding in report_of(path, workers).findings]
    assert with_lines(REMARKS[name], path) in remarks[0]


@pytest.mark.whole
def test_a_broadcast_that_is_meant_is_not_remarked(workers: Workers, tmp_path: Path) -> None:
    report = report_of(file_of("column_and_outer", tmp_path), workers)
    assert report.findings == ()
    assert aligned(report).divergence is None


@pytest.mark.whole
@pytest.mark.parametrize("engines", [TAPES, ("mindspore-graph", "torch-graph")])
def test_nets_that_both_round_are_not_parted_by_it(
    workers: Workers, tmp_path: Path, engines: Engines
) -> None:
    report = report_of(file_of("half_on_both", tmp_path), workers, engines)
    assert {output.dtype for graph in report.graphs for output in _outputs(graph)} >= {"float16"}
    assert aligned(report).divergences == ()


def _outputs(graph: GradGraph) -> list[Output]:
    return [output for node in graph.nodes for output in node.outputs]


def test_each_net_is_in_some_test() -> None:
    in_rows = {row.net for row in ROWS.values()}
    assert NETS.keys() == in_rows | REMARKS.keys() | {"column_and_outer", "half_on_both"}
