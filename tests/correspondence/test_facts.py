"""What rows say beside their arguments: each fact is seen where the row's domain leaves it out."""

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from explorer.correspondence.entries import both
from explorer.correspondence.records import Argument, Drawn, Row
from explorer.correspondence.table import ROWS
from tests.correspondence.comparing import answers, disagreements
from tests.correspondence.settings import settings

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

COUNT = 6
"""Settings of each row."""


class Widened(NamedTuple):
    """A row with more in its domain, and what then differs."""

    row: str
    differs: str
    operand: str = ""
    drawn: Drawn = "unit"
    argument: Argument | None = None


WIDENED = (
    Widened("ops.selu", "gradient of input"),
    Widened("ops.L2Normalize", "gradient of input"),
    Widened("ops.kl_div", "gradient of target", "target"),
    Widened("nn.KLDivLoss", "gradient of target", "target"),
    Widened("ops.gaussian_nll_loss", "gradient of var", "var", "positive"),
    Widened("nn.BCEWithLogitsLoss", "gradient of input", "target"),
    Widened("nn.SoftmaxCrossEntropyWithLogits", "gradient of input", "target", "targets"),
    Widened("ops.cosine_similarity", "result 0", argument=both("eps", 1e-8, 10.0)),
    Widened("nn.Embedding", "gradient of weight", argument=both("padding_idx", None, 1)),
)


def test_each_fact_is_seen(tmp_path: Path) -> None:
    wide = [setting for each in WIDENED for setting in settings(_widened(each), COUNT)]
    seen: dict[str, set[str]] = defaultdict(set)
    for setting, here, there in zip(wide, *answers(wide, tmp_path), strict=True):
        for text in disagreements(setting, here, there):
            seen[setting.row.mindspore].add(text.partition(" differs")[0])
    # Where the values differ, so do gradients.
    assert [each.row for each in WIDENED if each.differs not in seen[each.row]] == []
    only_in_gradients = [each for each in WIDENED if each.differs.startswith("gradient")]
    assert all(seen[each.row] == {each.differs} for each in only_in_gradients)


def _widened(each: Widened) -> Row:
    (row,) = [row for row in ROWS if row.mindspore == each.row]
    operands = []
    for operand in row.operands:
        if operand.torch == each.operand:
            operand = msgspec.structs.replace(operand, drawn=each.drawn)
        operands.append(operand)
    arguments = [argument for argument in row.arguments if argument.mindspore != _name(each)]
    if each.argument:
        arguments.append(each.argument)
    return msgspec.structs.replace(
        row, operands=tuple(operands), arguments=tuple(arguments), compared="gradients"
    )


def _name(each: Widened) -> str:
    return each.argument.mindspore if each.argument else ""
