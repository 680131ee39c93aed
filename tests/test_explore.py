"""The main job on the real frameworks: what the gradient guide says, and every shipped scenario."""

from collections.abc import Callable
from typing import Any

import pytest

from explorer.engines.capture.lint import lint
from explorer.exploration.explore import explore
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.errors import ScenarioError
from explorer.model.report import CaseReport, Report
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.scenario.contract import load, names
from explorer.scenario.settling import settle
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.conftest import NETS

Reports = Callable[[str], Report]
SHIPPED = tuple(names())
DX, DY, DW = [[4.0, 6.0, 8.0]], -2.0, [[2.0, 4.0, 6.0]]
DX_ALL, DW_ALL = [[6.0, 9.0, 12.0]], [[3.0, 6.0, 9.0]]

# The gradient guide's table for Dense(3→1) with MSE: position, weights, has_aux, structure,
# gradients.
GUIDE = [
    (0, None, True, "(dx, (logits,))", [DX]),
    (1, None, True, "(dy, (logits,))", [DY]),
    ((0, 1), None, True, "((dx, dy), (logits,))", [DX, DY]),
    (None, "all", True, "((dfc.weight,), (logits,))", [DW]),
    (0, "all", True, "((dx, (dfc.weight,)), (logits,))", [DX, DW]),
    ((0, 1), "all", True, "(((dx, dy), (dfc.weight,)), (logits,))", [DX, DY, DW]),
    (0, None, False, "dx", [DX_ALL]),
]


def found(report: Report, case: GradCase) -> CaseReport:
    return next(each for each in report.cases if each.case == case)


def values(row: CaseReport, engine: str, structure: str) -> list[object]:
    result = row.results[engine]
    assert result.outcome == "ok", result.error
    assert result.structure == structure
    return [unpack(leaf.value).tolist() for leaf in result.leaves]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("position", "weights", "has_aux", "structure", "gradients"), GUIDE)
def test_grad_gives_the_guide_s_structure_and_numbers(
    report: Reports,
    engine: str,
    position: Any,
    weights: Any,
    has_aux: bool,
    structure: str,
    gradients: list[object],
) -> None:
    row = found(report("dense_mse"), GradCase("grad", position, weights, has_aux))
    assert values(row, engine, structure) == gradients + [20.0] * has_aux
    assert row.verdict == "match"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("position", "weights", "has_aux", "structure", "gradients"), GUIDE)
def test_value_and_grad_puts_the_outputs_before_the_same_gradients(
    report: Reports,
    engine: str,
    position: Any,
    weights: Any,
    has_aux: bool,
    structure: str,
    gradients: list[object],
) -> None:
    row = found(report("dense_mse"), GradCase("value_and_grad", position, weights, has_aux))
    inner = structure[1 : -len(", (logits,))")] if has_aux else structure
    assert values(row, engine, f"((loss, logits), {inner})") == [1.0, 20.0, *gradients]


@pytest.mark.parametrize("engine", ENGINES)
def test_has_aux_false_differentiates_the_sum_of_outputs(report: Reports, engine: str) -> None:
    row = found(report("dense_mse"), GradCase("grad", (0, 1), "all"))
    assert values(row, engine, "((dx, dy), (dfc.weight,))") == [DX_ALL, DY, DW_ALL]


@pytest.mark.parametrize("engine", ["mindspore-graph", "mindspore-tape"])
def test_asking_for_nothing_is_a_value_error(report: Reports, engine: str) -> None:
    for row in report("dense_mse").cases:
        if row.case.must_fail:
            error = row.results[engine].error
            assert error is not None
            assert error.type == "ValueError"
            assert "`grad_position` and `weight` can not be None at the same time." in error.message


@pytest.mark.parametrize("engine", ENGINES)
def test_grad_operation_is_the_older_form_with_the_same_numbers(
    report: Reports, engine: str
) -> None:
    operation = GradCase("GradOperation", (0, 1), "all", get_all=True, get_by_list=True)
    row = found(report("dense_mse"), operation)
    assert values(row, engine, "((dx, dy), (dfc.weight,))") == [DX_ALL, DY, DW_ALL]


def test_return_ids_names_positions_and_parameters(report: Reports) -> None:
    row = found(report("dense_mse"), GradCase("grad", (0, 1), "all"))
    for engine in ("mindspore-graph", "mindspore-tape"):
        assert row.results[engine].ids == ("0", "1", "fc.weight")


def test_one_tensor_under_two_names_is_summed_by_tapes_and_kept_apart_by_graphs(
    report: Reports,
) -> None:
    row = found(report("aliased_input"), GradCase("grad", 0))
    got = {name: unpack(result.leaves[0].value).tolist() for name, result in row.results.items()}
    assert got == {
        "mindspore-graph": [1.0, 2.0, 3.0],
        "torch-graph": [1.0, 2.0, 3.0],
        "mindspore-tape": [2.0, 4.0, 6.0],
        "torch-tape": [2.0, 4.0, 6.0],
    }
    assert row.verdict == "differs"
    assert row.expected
    assert row.reason


@pytest.mark.parametrize("name", SHIPPED)
def test_every_case_of_a_shipped_scenario_is_as_expected(report: Reports, name: str) -> None:
    odd = {
        row.case.label: (row.verdict, row.reason) for row in report(name).cases if not row.expected
    }
    assert odd == {}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_failure_has_a_message_and_every_expected_difference_a_reason(
    report: Reports, name: str
) -> None:
    for row in report(name).cases:
        for engine, result in row.results.items():
            if result.outcome != "ok":
                assert result.error, (row.case.label, engine)
                assert result.error.message
        if row.verdict in ("differs", "some_raise"):
            assert row.reason, row.case.label


@pytest.mark.parametrize("name", SHIPPED)
def test_float64_scenarios_match(report: Reports, name: str) -> None:
    whole = report(name)
    if any(leaf.value.dtype == "float64" for leaf in whole.inputs):
        assert {row.verdict for row in whole.cases} <= {"match", "all_raise"}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_graph_of_a_shipped_scenario_is_sound(report: Reports, name: str) -> None:
    whole = report(name)
    drawn = {graph.engine for graph in whole.graphs}
    assert drawn | set(whole.ungraphed) == set(ENGINES)
    assert {"mindspore-graph", "torch-tape"} <= drawn
    assert {graph.engine: lint(graph) for graph in whole.graphs if lint(graph)} == {}


def test_a_tape_call_that_raises_leaves_nothing_behind_for_the_next_compile(
    workers: Workers,
) -> None:
    scenario = load(names()["conv_bn_relu_pool"])
    net = settle(scenario, workers, ("mindspore-graph",), {"mindspore-graph": "cpu"}).requests[
        "mindspore-graph"
    ]
    bare = load(names()["shared_weight"])
    other = settle(bare, workers, ("mindspore-tape",), {"mindspore-tape": "cpu"}).requests[
        "mindspore-tape"
    ]
    case = GradCase("grad", 0, "all", True)
    failed, compiled = (
        workers.call(
            "mindspore", f"explorer.engines.{module}:answer", CaseRequest(request, case), Result
        )
        for module, request in (("mindspore_tape", other), ("mindspore_graph", net))
    )
    assert not isinstance(failed, Lost)
    assert not isinstance(compiled, Lost)
    assert (failed.outcome, compiled.outcome) == ("raised", "ok"), compiled.error


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("raises_in_forward", r"raises_in_forward\.py:\d+: the torch net raises in forward: \w+"),
        ("parameters_disagree", r"do not correspond\. MindSpore has: .*\(.*PyTorch has: "),
        ("shapes_disagree", r"do not correspond\. MindSpore has: .*\(.*PyTorch has: "),
    ],
)
def test_nets_that_cannot_be_compared_are_refused_with_what_is_wrong(
    workers: Workers, file: str, message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        explore(load(NETS / f"{file}.py"), workers)


@pytest.mark.parametrize(
    ("file", "said"), [("crash_in_forward", "signal 6"), ("exits_in_forward", "exit code 7")]
)
def test_a_net_that_kills_its_worker_is_an_outcome_and_the_other_framework_still_answers(
    file: str, said: str
) -> None:
    with Workers() as workers:
        whole = explore(load(NETS / f"{file}.py"), workers)
    row = found(whole, GradCase("grad", 0))
    assert row.results["torch-tape"].outcome == "crashed"
    assert said in getattr(row.results["torch-tape"].error, "message", "")
    assert row.results["mindspore-tape"].outcome == "ok"
    assert not row.expected


def test_a_net_that_hangs_is_stopped_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.workers.process.GRACE_SECONDS", 20.0)
    with Workers(timeout=5.0) as workers:
        whole = explore(load(NETS / "hangs_in_forward.py"), workers)
    assert found(whole, GradCase("grad", 0)).results["torch-tape"].outcome == "timed_out"


def test_a_scenario_may_leave_one_framework_out(workers: Workers) -> None:
    whole = explore(load(NETS / "one_framework.py"), workers)
    row = found(whole, GradCase("grad", 0))
    assert row.results["mindspore-graph"].outcome == "not_defined"
    assert row.results["torch-tape"].outcome == "ok"


def test_nested_gradients_agree_until_a_tape_has_nothing_left_to_differentiate(
    workers: Workers,
) -> None:
    whole = explore(load(names()["polynomial"]), workers, order=2, graphs=False)
    by_x, by_y, by_z = (row for row in whole.cases if row.case.order == 2)
    assert (by_x.verdict, by_z.verdict) == ("match", "match")
    assert unpack(by_z.results["torch-graph"].leaves[0].value) == 6 * -1.0 * 0.5
    assert (by_y.verdict, by_y.expected) == ("some_raise", True)
    error = by_y.results["torch-tape"].error
    assert error is not None
    assert "does not require grad" in error.message
