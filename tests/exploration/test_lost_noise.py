"""Noise that could not be measured: a remark names the framework whose worker was lost, once."""

import pytest

from explorer.exploration.jobs import JobKey, LevelsKey, NoiseKey, question
from explorer.exploration.outcomes import losses
from explorer.model.cases import GradCase
from explorer.model.engines import ENGINES
from explorer.model.findings import NoiseUnknown
from explorer.workers.protocol import Lost
from explorer.workers.queue import JobOutcome

BY_X = question(GradCase("grad", 0))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_remark_names_the_framework_whose_worker_was_lost(engine: str) -> None:
    framework = ENGINES[engine].framework
    outcomes: dict[JobKey, JobOutcome] = {LevelsKey(engine): Lost("crashed", "signal 11\nmore")}
    facts = [remark.fact for remark in losses(outcomes)]
    assert facts == [NoiseUnknown(framework, "signal 11")]
    outcomes[NoiseKey(framework, BY_X)] = Lost("timed_out", "too long")
    assert [remark.fact for remark in losses(outcomes)] == facts


def test_each_framework_has_a_remark_of_its_own() -> None:
    outcomes: dict[JobKey, JobOutcome] = {
        NoiseKey("torch", BY_X): Lost("crashed", "signal 11"),
        LevelsKey("mindspore-tape"): Lost("timed_out", "too long"),
    }
    facts = [remark.fact for remark in losses(outcomes)]
    assert facts == [NoiseUnknown("torch", "signal 11"), NoiseUnknown("mindspore", "too long")]
    assert losses({}) == ()
