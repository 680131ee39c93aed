"""Noise that could not be measured: a remark names the framework whose worker was lost, once."""

import pytest

from explorer.exploration.jobs import JobKey, LevelsKey, NoiseKey, question
from explorer.exploration.outcomes import losses
from explorer.model.cases import GradCase
from explorer.model.failures import Loss
from explorer.model.findings import NoiseUnknown
from explorer.workers.protocol import Lost
from explorer.workers.queue import JobOutcome
from tests.support.standard_engines import ENGINES

BY_X = question(GradCase("grad", 0))


DIED = Loss(kind="died", code=-11)
LATE = Loss(kind="no_answer", amount=60)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_remark_names_the_framework_whose_worker_was_lost(engine: str) -> None:
    framework = ENGINES[engine].framework
    outcomes: dict[JobKey, JobOutcome] = {LevelsKey(engine): Lost("crashed", DIED)}
    facts = [remark.fact for remark in losses(outcomes)]
    assert facts == [NoiseUnknown(framework, Lost("crashed", DIED).failure)]
    outcomes[NoiseKey(f"{framework}-tape", BY_X)] = Lost("timed_out", LATE)
    assert [remark.fact for remark in losses(outcomes)] == facts


def test_each_framework_has_a_remark_of_its_own() -> None:
    outcomes: dict[JobKey, JobOutcome] = {
        NoiseKey("torch-tape", BY_X): Lost("crashed", DIED),
        LevelsKey("mindspore-tape"): Lost("timed_out", LATE),
    }
    facts = [remark.fact for remark in losses(outcomes)]
    assert facts == [
        NoiseUnknown("torch", Lost("crashed", DIED).failure),
        NoiseUnknown("mindspore", Lost("timed_out", LATE).failure),
    ]
    assert losses({}) == ()
