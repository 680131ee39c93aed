"""Nets with mistakes whose op and line are known: what is named first, and what else is listed."""

from pathlib import Path
from typing import NamedTuple

import pytest

from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.report import Report
from explorer.scenario.load import load
from explorer.words.causes import cause
from explorer.words.divergences import divergences
from explorer.words.findings import sentence
from explorer.workers.workers import Workers
from tests.support.nets import NETS, net_file

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

Engines = tuple[str, str]

TAPES = "mindspore-tape", "torch-tape"


class Row(NamedTuple):
    """Parts of the first divergence, a part of the only further one, and two engines.

    ``@{piece}`` is the place of the line that holds a piece.
    """

    parts: tuple[str, ...]
    further: str = ""
    engines: Engines = TAPES


ROWS = {
    "overwrite_exp": Row(
        ("different inputs, `Exp` (@{ops.exp(x)}) against `aten.mul", "@{b.data.mul_(0.5)})")
    ),
    "unread_bias": Row(
        (
            "`aten.addmm.default` (@{torch.rnn_tanh_cell}) of torch-graph reads the parameter",
            "`back.bias`, which nothing in mindspore-graph reads",
        ),
        "(@{ops.matmul}) and `aten.addmm.default` (@{torch.rnn_tanh_cell}) take different",
        ("mindspore-graph", "torch-graph"),
    ),
    "two_branches": Row(
        ("`aten.silu.default` (@{F.silu})", "(@{ops.mish})"), "`aten.relu.default` (@{F.relu})"
    ),
    "truncated": Row(
        # Not the zeros that the loop begins with, which PyTorch's tape detaches too.
        (
            "torch-tape stops the gradient in `aten.detach.default` (@{h.detach()}),",
            "mindspore-graph passes it on in `MatMul`",
        ),
        "torch-tape adds the gradient from `aten.mm.default` (onwards, @{h = torch.tanh}) in",
        ("mindspore-graph", "torch-tape"),
    ),
    "layer_in_half": Row(
        (
            "torch-tape rounds a value to `bfloat16` in `aten._to_copy.default` (two, @{out = })",
            "in `float32` with `BiasAdd` (two, @{ops.tanh})",
        )
    ),
}

REMARKS = {
    "nan_std": "not finite: dx, while the outputs are finite, in mindspore-tape: `SqrtBackward`"
    " (@{ops.sqrt}) makes inf from",
    "column_of_a_layer": "(@{ops.abs}) of mindspore-tape takes the shapes (4, 1) and"
    " (4,) and makes (4, 4) of them",
}
"""The beginning, or a part, of the first remark."""


def with_lines(part: str, path: Path) -> str:
    """A part of a sentence in which each ``@{piece}`` is the place of the line that holds the piece."""
    lines = path.read_text(encoding="utf-8").splitlines()
    while "@{" in part:
        before, _, rest = part.partition("@{")
        piece, _, behind = rest.partition("}")
        (number,) = (number for number, line in enumerate(lines, 1) if piece in line)
        part = f"{before}{path.name}:{number}{behind}"
    return part


def report_of(path: Path, workers: Workers, engines: Engines = TAPES) -> Report:
    return explore(load(path), workers, engines=engines, selection="main")


def aligned(report: Report) -> Alignment:
    (alignment,) = report.alignments
    return alignment


@pytest.mark.parametrize("name", ROWS)
def test_the_first_divergence_is_at_the_op_and_line_that_differ(
    workers: Workers, name: str
) -> None:
    row = ROWS[name]
    path = net_file(name)
    alignment = aligned(report_of(path, workers, row.engines))
    first, *further = divergences(alignment)
    for part in row.parts:
        assert with_lines(part, path) in first
    assert len(further) == bool(row.further)
    for text in further:
        assert with_lines(row.further, path) in text
    if name == "unread_bias":
        assert "with zeros in the place of `back.bias`" in cause(alignment)


@pytest.mark.whole
def test_a_mistake_behind_a_checkpoint_is_at_its_line(workers: Workers) -> None:
    report = report_of(NETS / "divergences" / "checkpoint_mistake.py", workers)
    (only,) = divergences(aligned(report))
    assert "`Sigmoid` (two, checkpoint_mistake.py:20) and `aten.tanh.default` (two," in only
    assert "checkpoint_mistake.py:48)" in only


@pytest.mark.whole
def test_a_counter_of_a_block_that_is_computed_again_comes_from_its_last_sum(
    workers: Workers,
) -> None:
    engines = ("mindspore-graph", "mindspore-tape")
    report = report_of(net_file("counted_again"), workers, engines)
    (only,) = divergences(aligned(report))
    assert "`AddExt` (block, counted_again.py:23) in mindspore-tape" in only
    assert "1 against 2" in only
    for graph in report.graphs:
        assert [node.op for node in graph.nodes if node.proof == "refuted"] == []


@pytest.mark.parametrize("name", REMARKS)
def test_what_is_not_finite_and_what_is_broadcast_is_remarked(workers: Workers, name: str) -> None:
    path = net_file(name)
    remarks = [sentence(finding) for finding in report_of(path, workers).findings]
    assert with_lines(REMARKS[name], path) in remarks[0]
