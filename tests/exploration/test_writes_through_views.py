"""Memory that is written to in part, by PyTorch in place and by MindSpore through a slice."""

from pathlib import Path
from typing import NamedTuple

import pytest

from explorer.exploration.explore import explore
from explorer.model.alignment import Alignment
from explorer.model.divergence import OtherValue
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.samples import some
from tests.support.scenario_files import Side, scenario_text, written

INPUTS = """
rng = np.random.default_rng(3)
x, y = rng.normal(size=(4, 4)).astype(np.float32), rng.normal(size=4).astype(np.float32)
return {"x": x, "y": y}
"""

LAST = "\nreturn (h * h * h * x).sum()"


class Write(NamedTuple):
    """PyTorch's lines, MindSpore's, what a mistake makes of its last one, and the ops that differ then."""

    torch: str
    mindspore: str
    mistaken: str
    differ: tuple[str, str] = ("CopySlices", "TensorScatterUpdate")
    zeros: bool = False


WRITES = {
    "a row of zeros": Write("v = h[1]\nv.copy_(y)", "h[1] = y", "h[2] = y", zeros=True),
    "a column": Write("h[:, 0] = y", "h[:, 0] = y", "h[0] = y"),
    "every second row": Write("h[::2] = y", "h[::2] = y", "h[1::2] = y"),
    "in place": Write(
        "h[1].mul_(2.0)", "h[1] = h[1] * 2.0", "h[1] = h[1] * -2.0", ("aten.mul_.Tensor", "Muls")
    ),
    "of a transpose": Write("v = h.t()\nv[1] = y", "h[:, 1] = y", "h[1] = y"),
    "two that overlap": Write("h[0] = y\nh[:, 1] = y", "h[0] = y\nh[:, 1] = y", "h[:, 2] = y"),
    "what the row before holds": Write(
        "for i in range(3):\n    h[i + 1] = h[i] * 2.0",
        "for i in range(3):\n    h[i + 1] = h[i] * 2.0",
        "    h[i + 1] = h[i] * 3.0",
        ("aten.mul.Tensor", "Muls"),
    ),
    "a mask on a part": Write(
        "h[1:].masked_fill_(x[1:] > 0, 0.25)",
        "h[1:] = h[1:].masked_fill(x[1:] > 0, 0.25)",
        "h[1:] = h[1:].masked_fill(x[1:] < 0, 0.25)",
        ("aten.gt.Scalar", "Less"),
    ),
    "past the tape": Write(
        "h.data[1] = y.data",
        "h[1] = ops.stop_gradient(y)",
        "h[2] = ops.stop_gradient(y)",
        zeros=True,
    ),
    "zeros": Write("h[2].zero_()", "h[2] = 0.0", "h[3] = 0.0"),
}
"""Writes by what is written to, of an ``h`` that is a sine or zeros."""


def aligned(write: Write, mindspore: str, folder: Path, workers: Workers) -> Alignment:
    torch, ours = "h = torch.sin(x)", "h = ops.sin(x)"
    if write.zeros:
        torch, ours = "h = torch.zeros(4, 4)", "h = ops.zeros((4, 4), ms.float32)"
    here = Side("", f"{ours}\n{mindspore}{LAST}")
    there = Side("", f"{torch}\n{write.torch}{LAST}")
    file = written(folder, scenario_text(INPUTS, here, there, "x, y"))
    engines = "torch-tape", "mindspore-tape"
    report = explore(load(file), workers, engines=engines, selection="main", oracle=False)
    (alignment,) = report.alignments
    return alignment


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", some(WRITES, "in place", "two that overlap"))
def test_a_part_is_written_alike_and_a_mistake_in_it_is_at_the_ops_of_its_line(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    write = WRITES[name]
    assert aligned(write, write.mindspore, tmp_path, workers).divergences == ()
    right = write.mindspore.splitlines()
    mistaken = "\n".join([*right[:-1], write.mistaken])
    alignment = aligned(write, mistaken, tmp_path, workers)
    divergence = alignment.divergence
    assert isinstance(divergence, OtherValue)
    assert tuple(row.last for row in divergence.rows) == write.differ
    assert tuple(row.count for row in divergence.rows) == (1, 1)
    lines = (tmp_path / "given.py").read_text(encoding="utf-8").splitlines()
    assert divergence.ends[1].source == f"given.py:{lines.index(' ' * 12 + write.mistaken) + 1}"
