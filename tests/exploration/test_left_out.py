"""Why two nets differ where one of them leaves out an op, starts elsewhere or has ops in another order."""

from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.causes import Cause, Change, LeftOut, OtherInputs, Related
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.causes import IMAGE, MATRIX, Mistake, net_with
from tests.support.samples import some

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = ("torch-tape", "mindspore-tape")

ALONE = {
    "clamp": ("ops.tanh(h)", "torch.tanh(torch.clamp(h, -0.3, 0.3))", MATRIX, "clamp"),
    "square": ("ops.exp(h)", "torch.exp(h ** 2)", MATRIX, "pow"),
    "square in mindspore": ("ops.exp(ops.square(h))", "torch.exp(h)", MATRIX, "square"),
    "factor under exp": ("ops.exp(h) * h", "torch.exp(0.5 * h) * h", MATRIX, "mul"),
}
"""MindSpore's expression, PyTorch's, the shape, and the op that one of them leaves out."""


def causes_of(mistake: Mistake, folder: Path, workers: Workers) -> list[Cause]:
    scenario = load(net_with(mistake, folder))
    report = explore(scenario, workers, engines=TAPES, selection="main", oracle=False)
    return [cause for cause in report.alignments[0].causes if cause is not None]


def changes_of(mistake: Mistake, folder: Path, workers: Workers) -> list[Change]:
    return [cause.change for cause in causes_of(mistake, folder, workers)]


@pytest.mark.parametrize("name", some(ALONE, "square in mindspore"))
def test_an_op_that_one_net_leaves_out_is_named(
    name: str, tmp_path: Path, workers: Workers
) -> None:
    mindspore, torch, shape, op = ALONE[name]
    found = causes_of(Mistake(mindspore, torch, shape, None), tmp_path, workers)
    left_out = [cause for cause in found if isinstance(cause.change, LeftOut)]
    assert [cause for cause in left_out if op in cause.op.lower()]


@pytest.mark.whole
def test_pooling_ahead_of_several_ops_is_an_order(tmp_path: Path, workers: Workers) -> None:
    mistake = Mistake(
        "ops.exp(ops.relu(ops.avg_pool2d(h, 2, 2)))",
        "torch.nn.functional.avg_pool2d(torch.exp(torch.relu(h)), 2)",
        IMAGE,
        None,
    )
    changes = changes_of(mistake, tmp_path, workers)
    assert [it for it in changes if isinstance(it, OtherInputs) and it.changes[0].how == "ahead"]


@pytest.mark.whole
def test_zeros_in_the_place_of_everything_explain_nothing(tmp_path: Path, workers: Workers) -> None:
    """A value that is zero throughout is soon equal to another one that is."""
    mistake = Mistake(
        "h * ops.zeros_like(h)", "h * torch.rand_like(h).gt(2.0).logical_not()", MATRIX, None
    )
    for change in changes_of(mistake, tmp_path, workers):
        is_replaced = isinstance(change, OtherInputs) and change.changes[0].how == "replaced"
        is_masked = isinstance(change, Related) and change.how == "masked"
        assert not is_replaced
        assert not is_masked
