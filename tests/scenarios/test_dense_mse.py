"""The gradient guide's own example: Dense(3→1) with mean squared error."""

from typing import Any

import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.report import CaseReport
from tests.support.samples import some_rows
from tests.support.scenario_reports import Reports, row
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

DX, DY, DW = [[4.0, 6.0, 8.0]], -2.0, [[2.0, 4.0, 6.0]]
"""Gradients of the loss."""

DX_ALL = [[6.0, 9.0, 12.0]]
"""That of loss and logits together, which has_aux=False asks for."""

LOGITS = 20.0

GUIDE = [
    (0, None, True, "(dx, (logits,))", [DX]),
    (1, None, True, "(dy, (logits,))", [DY]),
    ((0, 1), None, True, "((dx, dy), (logits,))", [DX, DY]),
    (None, "all", True, "((dfc.weight,), (logits,))", [DW]),
    (0, "all", True, "((dx, (dfc.weight,)), (logits,))", [DX, DW]),
    ((0, 1), "all", True, "(((dx, dy), (dfc.weight,)), (logits,))", [DX, DY, DW]),
    (0, None, False, "dx", [DX_ALL]),
]
"""The guide's table: position, weights, has_aux, structure, gradients."""

ALL, FIRST = GUIDE[5], GUIDE[6]


def values(case_report: CaseReport, engine: str, structure: str) -> list[object]:
    """The leaves of an answer that nests as ``structure`` says."""
    result = case_report.results[engine]
    assert result.outcome == "ok", result.error
    assert result.written == structure
    return [unpack(leaf.value).tolist() for leaf in result.leaves]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("position", "weights", "has_aux", "structure", "gradients"), some_rows(GUIDE, ALL, FIRST)
)
def test_grad_gives_the_guide_s_structure_and_numbers(
    report: Reports,
    engine: str,
    position: Any,
    weights: Any,
    has_aux: bool,
    structure: str,
    gradients: list[object],
) -> None:
    case_report = row(report("dense_mse"), GradCase("grad", position, weights, has_aux))
    assert values(case_report, engine, structure) == gradients + [LOGITS] * has_aux
    assert case_report.verdict == "match"
