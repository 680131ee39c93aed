"""The main job: a worker that dies, a framework left out, a case that is named, nets that differ."""

import re
from pathlib import Path

import numpy as np
import pytest

from explorer.exploration.explore import explore
from explorer.exploration.jobs import GRAPHS_STAGE
from explorer.exploration.options import Callbacks, Interrupted
from explorer.model.arrays import unpack
from explorer.model.cases import GradCase
from explorer.model.findings import (
    HiddenByZeros,
    Omitted,
    PackedParameters,
    PairedParameters,
    ZeroGradients,
)
from explorer.model.report import Report
from explorer.model.requests import CaseRequest
from explorer.model.results import Result
from explorer.scenario.common_start import settle
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.text.failures import message
from explorer.words.findings import sentence
from explorer.workers.protocol import Lost
from explorer.workers.workers import Workers
from tests.support.command_line import python
from tests.support.narrowing import of_type, present
from tests.support.nets import NETS, net_file
from tests.support.scenario_files import Side, normal, scenario_text, written
from tests.support.scenario_reports import BY_FIRST, leaves, row

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = ("torch-tape", "mindspore-tape")


def test_a_net_that_kills_its_worker_is_an_outcome_and_the_other_framework_still_answers() -> None:
    # How one worker ends is the question, and starting all of them would take longer.
    with Workers() as workers:
        whole = explore(
            load(net_file("crash_in_forward")), workers, engines=TAPES, selection="main"
        )
    by_x = row(whole, BY_FIRST)
    assert by_x.results["torch-tape"].outcome == "crashed"
    error = present(by_x.results["torch-tape"].error)
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


def test_a_mistake_that_a_start_of_zeros_hides_is_seen_from_another_start(workers: Workers) -> None:
    whole = explore(load(net_file("zero_branch")), workers, engines=TAPES, selection="main")
    assert whole.alignments[0].divergence is None
    (finding,) = whole.findings
    assert isinstance(finding.fact, HiddenByZeros)
    assert finding.is_alarm
    assert finding.fact.zeros == ZeroGradients(("scale", "fc.weight", "fc.bias"), ("scale",))
    assert "First divergence in forward: `aten.relu.default` (zero_branch.py:38) and" in sentence(
        finding
    )


def test_ctrl_c_from_the_other_start_keeps_what_the_first_one_gave(workers: Workers) -> None:
    graphs = []

    def step(stage: str, done: int, _total: int) -> None:
        if stage == GRAPHS_STAGE:
            if done in graphs:
                raise KeyboardInterrupt
            graphs.append(done)

    scenario, callbacks = load(net_file("zero_branch")), Callbacks(step)
    with pytest.raises(Interrupted) as caught:
        explore(scenario, workers, engines=TAPES, selection="main", callbacks=callbacks)
    (case,) = caught.value.report.cases
    assert case.verdict == "match"


def test_what_one_net_alone_trains_is_found_and_the_rest_is_compared(workers: Workers) -> None:
    scenario = load(net_file("trained_apart"))
    report = explore(scenario, workers, selection="main", graphs=False)
    sentences = {finding.names[0]: sentence(finding) for finding in report.findings}
    assert sentences["fc.weight"].startswith("fc.weight is trained in PyTorch and frozen")
    assert sentences["scale"] == "scale is trained in PyTorch and a plain tensor in MindSpore"
    assert "int32" in sentences["steps"]
    assert len(sentences) == len(report.findings) == 3
    assert not report.is_as_expected

    (case,) = report.cases
    assert case.verdict in ("match", "close")
    assert case.case.weights == "all"
    names = {leaf.name for leaf in case.results["mindspore-graph"].leaves}
    assert names >= {"dfc.bias", "dlast.weight", "dlast.bias"}
    assert names.isdisjoint({"dfc.weight", "dscale", "dsteps"})


# Objects beside tensors


def test_a_class_with_a_cache_is_taken_by_its_tensors_on_every_engine(workers: Workers) -> None:
    report = explore(load(net_file("model_output")), workers, selection="structure")
    (finding,) = report.findings
    assert finding.fact == Omitted("torch", {"past_key_values": "Cache"})
    assert finding.is_remark
    assert sentence(finding) == (
        "PyTorch's net returns past_key_values (Cache) besides its tensors; only the tensors are"
        " compared and differentiated"
    )
    assert report.is_as_expected
    answered = [case for case in report.cases if case.verdict != "all_raise"]
    assert len(answered) > 2
    for case in answered:
        assert {result.outcome for result in case.results.values()} == {"ok"}
        assert case.oracle_agrees
    assert len(report.graphs) >= 4
    main = row(report, GradCase("grad", 0, "all"))
    weight = np.array([[0.5, -1.0], [2.0, 0.25], [1.0, 1.0]])
    x = np.array([[1.0, 2.0], [0.5, -1.0]])
    expected = (2 * x @ weight.T + 1) @ weight
    for engine in main.results:
        np.testing.assert_allclose(leaves(main, engine)["dx"], expected, rtol=1e-6)


@pytest.mark.whole
def test_a_dataclass_is_taken_by_its_tensors_in_both_styles(workers: Workers) -> None:
    engines = ("torch-tape", "torch-graph")
    report = explore(
        load(net_file("dataclass_with_cache")), workers, engines=engines, selection="main"
    )
    (finding,) = report.findings
    assert finding.fact == Omitted("torch", {"config": "Config", "name": "str"})
    main = row(report, BY_FIRST)
    for engine in engines:
        np.testing.assert_array_equal(leaves(main, engine)["dx"], [4, 8, -12])
    assert report.is_as_expected


# Parameters of other names, shapes and pieces, without a map of names


@pytest.fixture(scope="module")
def packed(workers: Workers) -> Report:
    scenario = load(net_file("packed_projections"))
    return explore(scenario, workers, graphs=False, selection="main")


def test_packed_projections_start_alike_and_are_compared(packed: Report) -> None:
    (case,) = packed.cases
    assert case.verdict == "match"
    assert case.oracle_agrees
    names = [leaf.name for leaf in case.results["mindspore-graph"].leaves]
    assert names == [leaf.name for leaf in case.results["torch-tape"].leaves]
    assert {"dfirst.in_proj.weight", "dsecond.query.bias"} <= set(names)


def test_what_was_paired_and_packed_is_a_remark(packed: Report) -> None:
    facts = {type(finding.fact): finding for finding in packed.findings}
    assert set(facts) == {PairedParameters, PackedParameters}
    assert not any(finding.is_alarm for finding in facts.values())
    paired = of_type(PairedParameters, facts[PairedParameters].fact)
    assert paired.confirmed
    assert dict(paired.examples)["scale"] == "gain"


@pytest.mark.whole
@pytest.mark.parametrize("engine", ["mindspore-tape", "torch-tape"])
def test_the_listing_of_packed_nets_computes_the_same(packed: Report, engine: str) -> None:
    (case,) = packed.cases
    result = case.results[engine]
    text = python("-c", result.code)
    printed = np.array(re.findall(r"-?\d+\.\d*(?:e[+-]\d+)?", text), float)
    assert len(printed)
    # Of packed parameters too; digits are rounded, and what is far inside a large tensor is left out.
    names = ("dgain", "dfirst.in_proj.weight", "dsecond.query.weight")
    leaves = [leaf for leaf in result.leaves if leaf.name in names]
    assert len(leaves) == len(names)
    for leaf in leaves:
        first = unpack(leaf.value).ravel()[0]
        assert np.abs(printed - first).min() <= 1e-3 * abs(first) + 1e-4


SWAPPED = scenario_text(
    normal(2, 3),
    Side(
        "self.left, self.right = nn.Dense(3, 3), nn.Dense(3, 3)",
        "return ops.sigmoid(self.left(x)) * self.right(x)",
    ),
    Side(
        "self.up, self.gate = nn.Linear(3, 3), nn.Linear(3, 3)",
        "return torch.sigmoid(self.gate(x)) * self.up(x)",
    ),
    head="",
)


@pytest.mark.whole
def test_branches_of_one_shape_declared_in_another_order_are_paired_by_value(
    workers: Workers, tmp_path: Path
) -> None:
    scenario = load(written(tmp_path, SWAPPED))
    report = explore(scenario, workers, graphs=False, selection="main")
    (case,) = report.cases
    assert case.verdict == "match"
    (finding,) = report.findings
    assert isinstance(finding.fact, PairedParameters)
    assert dict(finding.fact.examples) == {"left": "gate", "right": "up"}
    assert set(finding.fact.ways) == {"value"}
