"""Schedules on the installed frameworks: closed forms, counterparts, who advances them."""

import math

import pytest

from explorer.model.study import StudyRecord, Table
from explorer.numeric.differences import greatest_difference
from explorer.topics.evidence import Evidence
from explorer.topics.measurements import measure
from explorer.topics.question import Target
from explorer.topics.schedules.comparison import FamilyComparison, compare_all, exports, uncompared
from explorer.topics.schedules.counterparts import STEPS
from explorer.topics.schedules.questions import (
    EXPORTED,
    GROUP_RATES,
    LISTS,
    PIECEWISE,
    TOPIC,
    UNMATCHED,
    UNMATCHED_STEPS,
    USED,
)
from explorer.topics.studies import target
from explorer.workers.workers import Workers
from tests.support.tellings import check_every_failure, check_telling, telling_text
from tests.support.topics import studied

pytestmark = [pytest.mark.mindspore, pytest.mark.torch]

CLOSED_FORMS = {
    "exponential": [0.1 * 0.9**step for step in range(STEPS)],
    "exponential in stairs": [0.1 * 0.5 ** (step // 5) for step in range(STEPS)],
    "natural exponential": [0.1 * math.exp(-0.5 * step) for step in range(STEPS)],
    "inverse": [0.1 / (1 + 0.5 * step) for step in range(STEPS)],
    "polynomial": [0.1 * max(1 - step / 10, 0) ** 2 for step in range(STEPS)],
    "warm-up": [0.02 * min(step, 5) for step in range(STEPS)],
    "piecewise constant": [0.1] * 5 + [0.05] * 5 + [0.025] * 10,
    "linear": [0.1 / 3 + (0.1 - 0.1 / 3) * min(step, 5) / 5 for step in range(STEPS)],
}


@pytest.fixture(scope="module")
def record(workers: Workers) -> StudyRecord:
    """One run of the study."""
    return studied("schedules", workers)


@pytest.fixture(scope="module")
def evidence(record: StudyRecord) -> Evidence:
    """What that run measured."""
    return Evidence(record.measured)


@pytest.fixture(scope="module")
def comparisons(evidence: Evidence) -> dict[str, FamilyComparison]:
    """The comparison of every family, by its name."""
    return {comparison.family.name: comparison for comparison in compare_all(evidence)}


def table(record: StudyRecord, title: str) -> Table:
    (wanted,) = (table for table in record.tables if table.title == title)
    return wanted


@pytest.mark.parametrize("family", sorted(CLOSED_FORMS))
def test_each_form_of_a_schedule_follows_its_closed_form(
    comparisons: dict[str, FamilyComparison], family: str
) -> None:
    by_form = comparisons[family].rates
    assert {"torch", "hand"} <= set(by_form)
    for form, rates in by_form.items():
        assert greatest_difference(rates, CLOSED_FORMS[family]) < 1e-7, form


def test_every_measurement_is_made_and_every_exported_schedule_is_compared(
    evidence: Evidence,
) -> None:
    assert evidence.failures == {}
    assert uncompared(exports(evidence)) == []


def test_only_the_cosine_parts_and_from_the_first_step_after_its_span(
    comparisons: dict[str, FamilyComparison],
) -> None:
    partings = {}
    for name, comparison in comparisons.items():
        if comparison.first_different_step is not None:
            partings[name] = comparison.first_different_step
    assert partings == {"cosine": 11}
    rates = comparisons["cosine"].rates
    assert rates["cell"][11] == pytest.approx(0.01)
    assert rates["hand"][11] == pytest.approx(rates["torch"][11])


def test_a_linear_warm_up_cannot_start_at_nothing(comparisons: dict[str, FamilyComparison]) -> None:
    refused = comparisons["warm-up from 0 by LinearLR"].refused
    assert set(refused) == {"hand", "torch"}
    for form, message in refused.items():
        assert message.startswith("ValueError: Starting multiplicative factor"), form


def test_nn_optimizers_move_a_schedule_on_and_others_wait_for_a_step(evidence: Evidence) -> None:
    mindspore, torch = evidence[USED]["mindspore"], evidence[USED]["torch"]
    decayed, still = [0.1, 0.09, 0.081, 0.0729, 0.06561], [0.1] * 5
    for way in ("nn.SGD with a list", "nn.SGD with a Cell", "experimental SGD, stepped by hand"):
        assert mindspore[way] == pytest.approx(decayed, abs=1e-6), way
    assert mindspore["experimental SGD, never stepped"] == pytest.approx(still, abs=1e-6)
    assert torch["SGD, never stepped"]["used"] == pytest.approx(still, abs=1e-6)
    last_rates = torch["SGD, stepped by hand"]["said"]
    assert last_rates == pytest.approx([0.09, 0.081, 0.0729, 0.06561, 0.059049])
    refusal = mindspore["nn.SGD with a list that is too short"]["message"]
    assert "should be in the range [0, 3), but got 3" in refusal


def test_the_record_names_what_has_no_counterpart(record: StudyRecord) -> None:
    only_torch = "Schedulers that only PyTorch has: ChainedScheduler, OneCycleLR, SWALR."
    assert only_torch in record.findings
    rows = table(record, "Every schedule that the installed frameworks export").rows
    assert ("PyTorch scheduler", "OneCycleLR", "none", "no") in rows
    assert ("MindSpore function", "piecewise_constant_lr", "MultiStepLR", "yes") in rows


def test_the_charts_show_the_parting_cosine_and_the_moving_rates(record: StudyRecord) -> None:
    charts = {chart.name: chart for chart in record.charts}
    assert set(charts) == {"schedules-mindspore", "schedules-parting", "schedules-used"}
    assert {series.name for series in charts["schedules-parting"].series} == {
        "cosine_decay_lr, CosineDecayLR (MindSpore)",
        "CosineAnnealingLR (PyTorch and MindSpore)",
    }


def test_the_same_measurements_give_the_same_figures_again(
    record: StudyRecord, workers: Workers
) -> None:
    questions = (LISTS, PIECEWISE, USED.by("torch"), EXPORTED.by("torch"))
    measurements = [question.measurements(Target())[0] for question in questions]
    for name, outcome in measure(measurements, workers).items():
        assert outcome.figures == record.figures[name], name


def test_with_one_framework_missing_the_other_is_told_alone(record: StudyRecord) -> None:
    names = [name for name in record.measured if name.endswith(".torch")]
    torch_alone = {name: record.measured[name] for name in names}
    telling = telling_text(TOPIC, Evidence(torch_alone))
    assert "PyTorch alone" in {row[-1] for row in telling.tables[0].rows}
    for chart in telling.charts:
        assert all("MindSpore" not in series.name for series in chart.series)


def test_rates_that_the_guide_misses_follow_their_closed_forms(evidence: Evidence) -> None:
    steps = range(UNMATCHED_STEPS)
    expected = {
        "exponential in stairs": [0.1 * 0.5 ** (step // 5) for step in steps],
        "multiplied": [0.1 * 0.9**step for step in steps],
        "cyclic": [0.01 + 0.09 * (1 - abs(step / 5 - 1)) for step in steps],
    }
    for framework in ("mindspore", "torch"):
        for family, rates in expected.items():
            assert greatest_difference(evidence[UNMATCHED][framework][family], rates) < 1e-7


def test_rates_of_groups_are_told_by_parameter_or_by_group(evidence: Evidence) -> None:
    mindspore, torch = evidence[GROUP_RATES]["mindspore"], evidence[GROUP_RATES]["torch"]
    by_kind = mindspore["get_lr_parameter"]
    assert by_kind["number"][0]["rates"] == pytest.approx(0.1)
    assert by_kind["list"][0]["rates"] == pytest.approx([0.1, 0.09, 0.081])
    assert by_kind["Cell"] == [{"kind": "Cell"}]
    for rates in mindspore["get_lr"].values():
        assert rates == pytest.approx([0.09, 0.01], abs=1e-6)
    assert mindspore["param_groups"]["experimental"] == pytest.approx([0.1, 0.01])
    assert torch["get_last_lr"] == torch["param_groups"] == pytest.approx([0.09, 0.009])


def test_what_is_told_can_be_read_whichever_measurement_fails(record: StudyRecord) -> None:
    looked_at = target(TOPIC, None, "cpu")
    check_telling(telling_text(TOPIC, Evidence(record.measured, looked_at)))
    check_every_failure(TOPIC, record.measured, looked_at)
