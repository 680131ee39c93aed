"""The main job: a worker that dies, a framework left out, an order, a case that is named."""

from pathlib import Path

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.model.cases import GradCase
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.scenario.common_start import settle
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.text.failures import message
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.scenario_reports import BY_FIRST, leaves, row

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = ("torch-tape", "mindspore-tape")


def test_a_net_that_kills_its_worker_is_an_outcome_and_the_other_framework_still_answers() -> None:
    # How one worker ends is the question, and starting all of them would take longer.
    with Workers() as workers:
        whole = explore(
            load(NETS / "crash_in_forward.py"), workers, engines=TAPES, selection="main"
        )
    by_x = row(whole, BY_FIRST)
    assert by_x.results["torch-tape"].outcome == "crashed"
    error = by_x.results["torch-tape"].error
    assert error is not None
    assert "signal 6" in message(error)
    assert by_x.results["mindspore-tape"].outcome == "ok"
    assert not by_x.expected


def test_a_scenario_may_leave_one_framework_out(workers: Workers) -> None:
    whole = explore(load(NETS / "one_framework.py"), workers, selection="main")
    by_x = row(whole, BY_FIRST)
    assert by_x.results["mindspore-graph"].outcome == "not_defined"
    assert by_x.results["torch-tape"].outcome == "ok"


def test_a_tape_call_that_raises_leaves_nothing_behind_for_the_next_compile(
    workers: Workers,
) -> None:
    case = GradCase("grad", 0, "all", True)

    def answer(file: Path, engine: str, module: str) -> Result:
        nets = settle(load(file), workers, (engine,), {engine: "cpu"})
        request = CaseRequest(nets.requests[engine], case)
        reply = workers.call("mindspore", f"{module}:answer", request, Result)
        assert not isinstance(reply, Lost)
        return reply

    failed = answer(find("shared_weight"), "mindspore-tape", "explorer.engines.mindspore.tape")
    graph_module = "explorer.engines.mindspore.graph"
    compiled = answer(find("conv_bn_relu_pool"), "mindspore-graph", graph_module)
    assert (failed.outcome, compiled.outcome) == ("raised", "ok"), compiled.error


NESTED = GradCase("grad", 0, order=2)


def test_the_main_case_and_the_nested_calls_of_an_order_are_run(workers: Workers) -> None:
    report = explore(
        load(NETS / "square.py"), workers, engines=TAPES, order=3, selection="main", graphs=False
    )
    asked = [case.case for case in report.cases]
    assert asked == [GradCase("grad", 0), NESTED, GradCase("grad", 0, order=3)]
    for engine in TAPES:
        values = leaves(row(report, NESTED), engine)
        np.testing.assert_array_equal(np.unique(next(iter(values.values()))), [2])
    (left_out,) = report.left_out
    assert not set(left_out.cases) & set(asked)


def test_a_case_that_is_named_is_run_alone(workers: Workers) -> None:
    report = explore(
        load(NETS / "square.py"),
        workers,
        engines=TAPES,
        order=2,
        graph_case=GradCase("grad", 0).label,
        selection="main",
        graphs=False,
    )
    assert [case.case for case in report.cases] == [GradCase("grad", 0)]
