"""Derivatives of a polynomial, also of second order."""

import pytest

from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.workers.workers import Workers
from tests.support.scenario_reports import Reports, graph, origins, output_called, refuses
from tests.support.standard_engines import ENGINES

pytestmark = [pytest.mark.mindspore, pytest.mark.torch, pytest.mark.whole]


def test_nested_gradients_agree_until_a_tape_has_nothing_left_to_differentiate(
    workers: Workers,
) -> None:
    whole = explore(load(find("polynomial")), workers, order=2, selection="main", graphs=False)
    by_x, by_y, by_z = (row for row in whole.cases if row.case.order == 2)
    assert (by_x.verdict, by_z.verdict) == ("match", "match")
    assert unpack(by_z.results["torch-graph"].leaves[0].value) == 6 * -1.0 * 0.5
    assert (by_y.verdict, by_y.expected) == ("some_raise", True)
    refuses(by_y, "torch-tape", "does not require grad")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sum_that_is_a_gradient_derives_from_the_input_it_belongs_to(
    engine: str, report: Reports
) -> None:
    # Of y's two gradients one is x·x itself in MindSpore's graph, the other one is z's too.
    captured = graph(report("polynomial"), engine)
    leaves = {node.name: node.id for node in captured.nodes if node.kind == "input"}
    for name, leaf in leaves.items():
        (total,) = origins(captured, output_called(captured, f"d{name}"))
        assert (total.kind, total.forward) == ("accumulate", leaf)
