"""The page of cases: filters and the chosen case stand in the address; values, structure and code."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from explorer.model.cases import GradCase
from explorer.web.case_detail import CELLS, difference, extent, first_pair, heat_map, plane_of
from explorer.web.cases_page import Filters, cases
from explorer.web.report_page import ReportKey
from tests.support.narrowing import present
from tests.support.pages import address, said, shown
from tests.support.sample_report import case_report, report

pytestmark = pytest.mark.slow

KEY = ReportKey(Path("net.py"), "digest")

SAMPLE = (cases, KEY, report(unexpected=True))
"""The page of the sample report."""


def rows(page: Any) -> list[str]:
    return list(page.dataframe[0].value["call"])


def test_the_page_opens_with_the_case_most_worth_a_look_and_an_empty_address() -> None:
    page = shown(*SAMPLE)
    assert not page.exception
    first = next(case for case in report(unexpected=True).cases if not case.expected)
    assert any(
        block.value.replace("\\", "") == f"#### {first.case.short}" for block in page.markdown
    )
    assert address(page) == {}


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ({"position": "0; (0, 1)"}, lambda case: case.grad_position in ((0, 1), 0)),
        (
            {"position": "None", "weights": "all"},
            lambda case: case.grad_position is None and case.weights == "all",
        ),
        ({"weights": "none", "aux": "with"}, lambda case: case.weights is None and case.has_aux),
        ({"aux": "without", "api": "value_and_grad"}, lambda case: not case.has_aux),
        ({"words": "weights=all valueerror"}, lambda case: False),
    ],
)
def test_each_filter_of_an_address_holds(query: dict[str, str], fits: Any) -> None:
    page = shown(*SAMPLE, **query)
    assert not page.exception
    wanted = [case.case.short for case in report().cases if fits(case.case)]
    if "api" in query:
        wanted = [name for name in wanted if name.startswith(f"{query['api']}(")]
    assert (rows(page) if page.dataframe else []) == wanted
    assert address(page).items() >= query.items()


def test_a_filter_by_verdict_and_by_the_unexpected() -> None:
    verdicts = {case.verdict for case in report(unexpected=True).cases}
    assert "differs" in verdicts
    unexpected = Filters(verdicts=("unexpected",))
    differing = Filters(verdicts=("differs", "close"))
    for case in report(unexpected=True).cases:
        assert unexpected.fit(case) is not case.expected
        assert differing.fit(case) is (case.verdict in ("differs", "close"))


def test_a_filter_that_is_chosen_goes_into_the_address_and_the_way_back_undoes_it() -> None:
    page = shown(*SAMPLE)
    page.selectbox(key="weights").set_value("one").run()
    assert address(page)["weights"] == "one"
    assert all("weights=one" in row for row in rows(page))
    page.query_params.clear()
    page.run()
    assert page.selectbox(key="weights").value is None
    assert len(rows(page)) == len(report().cases)


@pytest.mark.parametrize("name", ["grad(0, weights=all)", GradCase("grad", 0, "all").label])
def test_a_case_of_the_address_is_shown_with_its_structure_and_all_code(name: str) -> None:
    page = shown(*SAMPLE, case=name)
    assert "#### grad(0, weights=all)" in said(page).replace("\\", "")
    code = [block.value for block in page.code]
    answering = [r for r in case_report(GradCase("grad", 0, "all")).results.values() if r.code]
    assert code.count("ms.grad(net)") == len(answering) > 1
    assert any(block.startswith("tuple of 2 parts\n├─ dx  1×3 float32") for block in code)
    assert address(page) == {"case": "grad(0, weights=all)"}


def test_the_tensor_and_the_engines_of_the_address_are_compared() -> None:
    query = {"case": "grad(1)", "leaf": "dy", "engines": "torch-tape,torch-graph"}
    page = shown(*SAMPLE, **query)
    assert page.multiselect(key="engines").value == ["torch-tape", "torch-graph"]
    # The sample's tapes give twice the truth at this position.
    values = [block.value for block in page.code if block.value in ("-2.0", "-4", "-2", "2")]
    assert {"-4", "-2"} <= set(values)


def test_the_pair_shown_first_is_the_one_that_differs_most() -> None:
    case = case_report(GradCase("grad", 0), wrong="torch-graph")
    assert set(first_pair(case, case.results, "")) == set(present(case.greatest).engines)
    assert first_pair(case, case.results, "torch-tape,nobody") == first_pair(case, case.results, "")
    alike = msgspec.structs.replace(case, greatest=None)
    assert set(first_pair(alike, alike.results, "")) == {"torch-tape", "mindspore-graph"}


def test_a_large_tensor_keeps_its_farthest_element_in_a_heat_map() -> None:
    array = np.zeros((7, 5, 301))
    array[3, 2, 200] = -9.0
    plane = plane_of(array)
    assert plane.shape == (35, CELLS)
    assert plane.min() == -9.0
    chart = heat_map(array)
    assert len(chart["data"]["values"]) == 35 * CELLS
    assert chart["encoding"]["color"]["scale"]["domain"] == [-9.0, 9.0]
    assert "[3, 2, 200]" in extent(array)
    # What is not finite is no cell, and is counted.
    array = np.arange(100.0)
    array[7] = np.nan
    cells = heat_map(array)["data"]["values"]
    assert len(cells) == 99
    assert "1 not finite" in extent(array)
    assert [cell["value"] for cell in cells if (cell["row"], cell["column"]) == (9, 9)] == [99.0]


def test_tensors_of_different_shapes_have_no_difference() -> None:
    assert difference(np.zeros(2), np.zeros(3)) is None
    exact = present(difference(np.array([16777217], np.int64), np.array([16777216], np.float32)))
    assert exact.tolist() == [1.0]
    # It is taken in float64.
    largest = np.array([60000.0], np.float16)
    beyond = present(difference(largest, -largest))
    assert beyond.tolist() == [120000.0]  # twice the greatest float16
    flags = np.array([True, False])
    apart = present(difference(flags, ~flags))
    assert apart.tolist() == [1.0, -1.0]


def test_where_the_oracle_says_nothing_the_page_says_nothing_of_central_differences() -> None:
    whole = report(foreseen=False)
    case = msgspec.structs.replace(whole.cases[6], oracle_agrees=None)
    page = shown(cases, KEY, msgspec.structs.replace(whole, cases=(case,)))
    assert not page.exception
    assert "grad(0)" in said(page).replace("\\", "")
    assert "Central differences" not in said(page)
    assert "Central differences agree" in said(shown(*SAMPLE, case="grad(0)"))
