"""The gradient guide's own example: Dense(3→1) with mean squared error, in every way of asking."""

from typing import Any

import pytest

from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.report import CaseReport
from explorer.scenario.selection import named
from tests.support.samples import some_rows
from tests.support.scenario_reports import MINDSPORE, Reports, row
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

DX, DY, DW = [[4.0, 6.0, 8.0]], -2.0, [[2.0, 4.0, 6.0]]
"""Gradients of the loss."""

DX_ALL, DW_ALL = [[6.0, 9.0, 12.0]], [[3.0, 6.0, 9.0]]
"""Gradients of loss and logits together, which has_aux=False asks for."""

LOSS, LOGITS = 1.0, 20.0

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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("position", "weights", "has_aux", "structure", "gradients"), some_rows(GUIDE, ALL)
)
def test_value_and_grad_puts_the_outputs_before_the_same_gradients(
    report: Reports,
    engine: str,
    position: Any,
    weights: Any,
    has_aux: bool,
    structure: str,
    gradients: list[object],
) -> None:
    case_report = row(report("dense_mse"), GradCase("value_and_grad", position, weights, has_aux))
    inner = structure[1 : -len(", (logits,))")] if has_aux else structure
    expected = [LOSS, LOGITS, *gradients]
    assert values(case_report, engine, f"((loss, logits), {inner})") == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_has_aux_false_differentiates_the_sum_of_outputs(report: Reports, engine: str) -> None:
    case_report = row(report("dense_mse"), GradCase("grad", (0, 1), "all"))
    assert values(case_report, engine, "((dx, dy), (dfc.weight,))") == [DX_ALL, DY, DW_ALL]


@pytest.mark.whole
@pytest.mark.parametrize("engine", MINDSPORE)
def test_asking_for_nothing_is_a_value_error(report: Reports, engine: str) -> None:
    for case_report in report("dense_mse").cases:
        if case_report.case.must_fail:
            error = case_report.results[engine].error
            assert error is not None
            assert error.type == "ValueError"
            assert "can not be None at the same time" in error.message


@pytest.mark.whole
@pytest.mark.parametrize("engine", ENGINES)
def test_grad_operation_is_the_older_form_with_the_same_numbers(
    report: Reports, engine: str
) -> None:
    operation = GradCase("GradOperation", (0, 1), "all", get_all=True, get_by_list=True)
    case_report = row(report("dense_mse"), operation)
    assert values(case_report, engine, "((dx, dy), (dfc.weight,))") == [DX_ALL, DY, DW_ALL]


@pytest.mark.whole
def test_a_compiled_net_is_asked_for_names_where_it_shows_something_new_and_the_tape_always(
    report: Reports,
) -> None:
    whole = report("dense_mse")
    wanted = named(row.case for row in whole.cases)
    for engine in MINDSPORE:
        having = {row.case for row in whole.cases if row.results[engine].ids}
        unnamed = {row.case for row in whole.cases if row.results[engine].note}
        takers = {row.case for row in whole.cases if row.case.takes_ids and not row.case.must_fail}
        assert having | unnamed == (wanted if engine == "mindspore-graph" else takers)
    assert len(wanted) == 6


def test_return_ids_names_positions_and_parameters(report: Reports) -> None:
    case_report = row(report("dense_mse"), GradCase("grad", (0, 1), "all"))
    for engine in MINDSPORE:
        assert case_report.results[engine].ids == ("0", "1", "fc.weight")
