"""The study of learning-rate schedules: sequences by closed form, counterparts, and who moves a
schedule on.
"""

import math

import pytest

from explorer.model.study import StudyRecord, Table
from explorer.numeric.differences import greatest_difference
from explorer.topics.evidence import Evidence
from explorer.topics.measuring import measure
from explorer.topics.schedules import LISTS, NAMES_TORCH, PIECEWISE, USED_TORCH
from explorer.topics.schedules.comparing import inventory, pair, pairs
from explorer.topics.schedules.families import FAMILIES, STEPS, Family
from explorer.topics.schedules.tables import unpaired
from explorer.topics.schedules.telling import tell
from explorer.workers.workers import Workers
from tests.study_runs import studied

CLOSED = {
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


@pytest.mark.parametrize("family", sorted(CLOSED))
def test_each_form_of_a_schedule_follows_its_closed_form(evidence: Evidence, family: str) -> None:
    found = pair(next(each for each in FAMILIES if each.name == family), evidence)
    assert {"torch", "hand"} <= set(found.rates)
    for form, rates in found.rates.items():
        assert greatest_difference(rates, CLOSED[family]) < 1e-7, form


def test_every_measurement_is_made_and_every_exported_schedule_is_compared(
    evidence: Evidence,
) -> None:
    assert evidence.failures == {}
    assert unpaired(inventory(evidence)) == []


def test_only_the_cosine_parts_and_from_the_first_step_after_its_span(evidence: Evidence) -> None:
    found = {each.family.name: each for each in pairs(evidence)}
    assert {name: each.parts for name, each in found.items() if each.parts is not None} == {
        "cosine": 11
    }
    cosine = found["cosine"].rates
    assert cosine["cell"][11] == pytest.approx(0.01)
    assert cosine["hand"][11] == pytest.approx(cosine["torch"][11])


def test_a_linear_warm_up_cannot_start_at_nothing(evidence: Evidence) -> None:
    found = pair(
        next(each for each in FAMILIES if each.name == "warm-up from 0 by LinearLR"), evidence
    )
    assert {
        form: message.partition(" expected")[0] for form, message in found.refused.items()
    } == dict.fromkeys(("hand", "torch"), "ValueError: Starting multiplicative factor")


def test_nn_optimizers_move_a_schedule_on_and_others_wait_for_a_step(record: StudyRecord) -> None:
    ours, theirs = record.figures["schedules.used.mindspore"], record.figures[USED_TORCH.name]
    decayed, still = [0.1, 0.09, 0.081, 0.0729, 0.06561], [0.1] * 5
    for way in ("nn.SGD with a list", "nn.SGD with a Cell", "experimental SGD, stepped by hand"):
        assert ours[way] == pytest.approx(decayed, abs=1e-6), way
    assert ours["experimental SGD, never stepped"] == pytest.approx(still, abs=1e-6)
    assert theirs["SGD, never stepped"]["used"] == pytest.approx(still, abs=1e-6)
    assert theirs["SGD, stepped by hand"]["said"] == pytest.approx(
        [0.09, 0.081, 0.0729, 0.06561, 0.059049]
    )
    assert (
        "should be in the range [0, 3), but got 3"
        in ours["nn.SGD with a list that is too short"]["message"]
    )


def test_the_record_names_what_has_no_counterpart(record: StudyRecord) -> None:
    assert (
        "Schedulers that only PyTorch has: ChainedScheduler, OneCycleLR, SWALR." in record.findings
    )
    rows = _table(record, "Every schedule that the installed frameworks export").rows
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
    again = measure((LISTS, PIECEWISE, USED_TORCH, NAMES_TORCH), workers)
    assert {name: each.figures for name, each in again.items()} == {
        name: record.figures[name] for name in again
    }


def test_without_evidence_nothing_is_claimed() -> None:
    told = tell(Evidence({}))
    assert told.findings == ()
    assert told.charts == ()
    assert {row[-1] for row in told.tables[0].rows} == {"not compared"}


def test_with_one_framework_missing_the_reason_is_in_the_table(evidence: Evidence) -> None:
    lost = {name: each for name, each in evidence.measured.items() if name.endswith(".torch")}
    told = tell(Evidence(lost))
    assert "PyTorch alone" in {row[-1] for row in told.tables[0].rows}
    assert all("MindSpore" not in series.name for chart in told.charts for series in chart.series)


def test_a_planted_difference_is_found_with_its_step() -> None:
    family = Family(name="planted", formula="", list=("a", {}), torch=("b", {}))
    measured = {
        "schedules.lists.mindspore": {"planted": [0.1, 0.1, 0.1001]},
        "schedules.by_hand.torch": {"planted": [0.1] * 3},
    }
    found = pair(family, measured)  # type: ignore[arg-type]  # figures by name are all that is read
    assert found.parts == 2
    assert found.difference == pytest.approx(1e-3)


def _table(record: StudyRecord, title: str) -> Table:
    return next(table for table in record.tables if table.title == title)
