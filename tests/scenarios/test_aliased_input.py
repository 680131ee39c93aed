"""One tensor passed under two names."""

import pytest

from explorer.scenario.find import find
from explorer.scenario.load import load
from tests.support.scenario_reports import BY_FIRST, Reports, leaves, row

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]


def test_it_is_summed_by_tapes_and_kept_apart_by_graphs(report: Reports) -> None:
    by_a = row(report("aliased_input"), BY_FIRST)
    gradients = {name: leaves(by_a, name)["da"].tolist() for name in by_a.results}
    assert gradients == {
        "mindspore-graph": [1.0, 2.0, 3.0],
        "torch-graph": [1.0, 2.0, 3.0],
        "mindspore-tape": [2.0, 4.0, 6.0],
        "torch-tape": [2.0, 4.0, 6.0],
    }
    assert by_a.verdict == "differs"
    assert by_a.expected
    assert by_a.reason


def test_one_array_under_two_names_stays_one_array() -> None:
    inputs = load(find("aliased_input")).inputs()
    assert inputs["a"] is inputs["b"]
