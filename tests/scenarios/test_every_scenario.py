"""What every shipped scenario must hold."""

from pathlib import Path

import numpy as np
import pytest

from explorer.engines.capture.lint import lint
from explorer.model.engines import FRAMEWORKS, NEEDED
from explorer.model.report import ORACLE
from explorer.scenario.find import REAL, names
from explorer.scenario.load import load
from explorer.scenario.matrix import matrix
from explorer.text.failures import message
from explorer.words.divergences import first_divergence
from tests.planted.naming import TAPES
from tests.support.samples import sampled
from tests.support.scenario_reports import Reports, each_scenario
from tests.support.standard_engines import ENGINES

SHIPPED = names()
REAL_NETS = names((REAL,))
FILES = [*SHIPPED.values(), *REAL_NETS.values()]

PARTIES = {ORACLE, *ENGINES, "tape", "graph", *FRAMEWORKS}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_has_a_title_notes_and_both_nets(path: Path) -> None:
    scenario = load(path)
    assert scenario.title
    assert len(scenario.title) < 80
    assert len(scenario.notes) > 80
    assert all(scenario.defines(framework) for framework in NEEDED)
    assert ("Watch" in scenario.notes) or path.parent != REAL


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_inputs_and_parameters_are_the_same_at_every_call(path: Path) -> None:
    scenario = load(path)
    for make in (scenario.inputs, lambda: scenario.parameters() or {}):
        first, second = make(), make()
        assert list(first) == list(second)
        for name, array in first.items():
            assert array is not second[name]
            np.testing.assert_array_equal(array, second[name], strict=True)


@pytest.mark.parametrize("path", SHIPPED.values(), ids=lambda path: path.stem)
def test_every_expected_difference_names_known_parties_and_describes_some_case(path: Path) -> None:
    scenario = load(path)
    cases = matrix(len(scenario.inputs()), scenario.parameters() is not None, order=4)
    for expected in scenario.expected:
        assert expected.reason
        assert set(expected.engines) <= PARTIES
        assert any(expected.applies(case) for case in cases)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_notes_are_set_in_lines_that_read_well(path: Path) -> None:
    assert max(map(len, load(path).notes.splitlines())) <= 120


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", each_scenario(SHIPPED))
def test_every_case_is_as_expected(report: Reports, name: str) -> None:
    odd = {}
    for case_report in report(name).cases:
        if not case_report.expected:
            odd[case_report.case.label] = (case_report.verdict, case_report.surprise)
    assert odd == {}
    assert "conditioning" not in [finding.kind for finding in report(name).findings]


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", each_scenario(SHIPPED))
def test_every_failure_has_a_message_and_every_expected_difference_a_reason(
    report: Reports, name: str
) -> None:
    for case_report in report(name).cases:
        for engine, result in case_report.results.items():
            if result.outcome != "ok":
                assert result.error, (case_report.case.label, engine)
                assert message(result.error)
        if case_report.verdict in ("differs", "some_raise"):
            assert case_report.reason, case_report.case.label


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", each_scenario(SHIPPED))
def test_float64_scenarios_match(report: Reports, name: str) -> None:
    whole = report(name)
    if any(leaf.value.dtype == "float64" for leaf in whole.inputs):
        assert {case_report.verdict for case_report in whole.cases} <= {"match", "all_raise"}


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", each_scenario(SHIPPED))
def test_every_graph_is_sound(report: Reports, name: str) -> None:
    whole = report(name)
    drawn = {graph.engine for graph in whole.graphs}
    assert drawn | set(whole.ungraphed) == set(ENGINES)
    assert {"mindspore-graph", "torch-tape"} <= drawn
    for graph in whole.graphs:
        assert lint(graph) == [], graph.engine


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", ["lstm", "attention_block"])
def test_mindspore_s_tape_indexes_tensors_in_every_case_also_after_calls_that_raised(
    report: Reports, name: str
) -> None:
    outcomes = {}
    for case_report in report(name).cases:
        outcomes[case_report.case] = case_report.results["mindspore-tape"].outcome
    assert "raised" in list(outcomes.values())[:4]
    for case, outcome in outcomes.items():
        assert (outcome == "raised") == (case.has_aux or case.must_fail), case.label


# Nets modelled on published ones


def test_there_are_at_least_thirty_nets_modelled_on_published_ones() -> None:
    assert len(REAL_NETS) >= 30


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("net", sampled(REAL_NETS, 1))
def test_a_published_net_s_engines_agree_on_every_result_and_nothing_is_named(
    net: str, report: Reports
) -> None:
    whole = report(f"real/{net}")
    (case,) = whole.cases
    assert case.verdict == "match"
    assert set(TAPES) in [{alignment.left, alignment.right} for alignment in whole.alignments]
    for graph in whole.graphs:
        assert lint(graph) == []
    for engine in TAPES:
        (graph,) = (graph for graph in whole.graphs if graph.engine == engine)
        assert 30 <= len(graph.nodes) <= 600, engine
    assert {finding.kind for finding in whole.findings} <= {"masks"}
    for alignment in whole.alignments:
        assert alignment.divergence is None, first_divergence(alignment)
