"""Nets that draw random numbers: what depends on them is measured, and the rest is compared."""

from pathlib import Path

import pytest

from explorer.exploration.explore import explore
from explorer.model.report import CaseReport, Report
from explorer.scenario.load import load
from explorer.words.divergences import first_divergence
from explorer.workers.workers import Workers
from tests.support.nets import NETS
from tests.support.scenario_files import written
from tests.support.standard_engines import ENGINES
from tests.support.twin_nets import TWINS, twin_file

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

TAPES = ("mindspore-tape", "torch-tape")
TEXT = TWINS["dropout_branch"]


def main_case(report: Report) -> CaseReport:
    return report.cases[0]


def test_a_net_with_dropout_is_as_expected_in_all_engines(workers: Workers) -> None:
    scenario = load(twin_file("dropout_branch"))
    report = explore(scenario, workers, selection="main", graphs=False)
    case = main_case(report)
    assert list(case.results) == list(ENGINES)
    assert {result.outcome for result in case.results.values()} == {"ok"}
    # What passes through the dropout, and nothing else.
    assert case.drawn == ("dx", "dleft.weight", "dleft.bias")
    assert (case.verdict, case.oracle_agrees, case.expected) == ("match", True, True)


def test_a_mistake_beside_the_dropout_is_found(tmp_path: Path, workers: Workers) -> None:
    mindspore, torch = TEXT.split("def torch_net")
    assert torch.count("torch.tanh") == 1
    wrong = f"{mindspore}def torch_net{torch.replace('torch.tanh', 'torch.sigmoid')}"
    scenario = load(written(tmp_path, wrong, "wrong_beside.py"))
    report = explore(scenario, workers, engines=TAPES, selection="main")
    case = main_case(report)
    assert case.drawn == ("dx", "dleft.weight", "dleft.bias")
    assert (case.verdict, case.expected) == ("differs", False)
    assert case.greatest
    assert case.greatest.leaf not in case.drawn
    (alignment,) = report.alignments
    assert set(alignment.drawn) == {"loss", *case.drawn}
    assert alignment.divergence
    assert first_divergence(alignment).startswith("First divergence")
    assert "aten.sigmoid" in first_divergence(alignment)


SHARED = TEXT.replace("SAME_DROPOUT = False\n", "")


def test_by_default_dropout_layers_drop_the_same_and_a_remark_says_so(
    tmp_path: Path, workers: Workers
) -> None:
    scenario = load(written(tmp_path, SHARED, "shared.py"))
    report = explore(scenario, workers, selection="main", graphs=False)
    case = main_case(report)
    assert (case.verdict, case.drawn, case.oracle_agrees) == ("match", (), True)
    (remark,) = report.findings
    assert (remark.kind, remark.names, remark.is_alarm) == ("masks", ("drop",), False)
    assert "SAME_DROPOUT" in case.results["torch-tape"].code


@pytest.mark.whole
def test_what_a_net_draws_when_it_is_made_is_its_start(workers: Workers) -> None:
    report = explore(
        load(NETS / "ms_drawn_start.py"), workers, engines=TAPES, selection="main", graphs=False
    )
    case = main_case(report)
    assert [leaf.name for leaf in case.results["mindspore-tape"].leaves] == ["dx", "out1"]
    assert case.drawn == ("out1",)
