"""Workers that are lost: what an exploration raises, and the remark on noise that was not measured."""

import pytest

from explorer import api
from explorer.exploration import explore as exploration
from explorer.exploration.jobs import JobKey
from explorer.exploration.outcomes import losses
from explorer.model.cases import GradCase
from explorer.model.engines import Framework
from explorer.model.errors import ExplorerError, MissingFrameworkError, TimeLimitError
from explorer.model.failures import MISSING_FRAMEWORK, Failure, Loss, LossKind
from explorer.model.findings import NoiseUnknown
from explorer.scenario.find import find
from explorer.scenario.load import load
from explorer.workers.protocol import Lost
from explorer.workers.queue import JobOutcome
from explorer.workers.workers import Workers
from tests.support.standard_engines import ENGINES


def error_of(failure: Failure, monkeypatch: pytest.MonkeyPatch) -> ExplorerError:
    """The error of an exploration in which every worker answers with this failure."""

    def about(_: Workers, kinds: dict[str, Framework], *_args: object) -> dict[str, Failure]:
        return dict.fromkeys(kinds, failure)

    monkeypatch.setattr(exploration, "about", about)
    with Workers() as workers, pytest.raises(ExplorerError) as raised:
        exploration.devices_of(load(find("dense_mse")), ("torch-tape",), "cpu", workers)
    return raised.value


@pytest.mark.parametrize("kind", ["no_answer", "out_of_time", "not_sent"])
def test_a_time_limit_is_not_a_missing_framework(
    kind: LossKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = Failure("timed_out", loss=Loss(kind=kind, amount=1.0))
    error = error_of(failure, monkeypatch)
    assert type(error) is TimeLimitError
    assert error.exit_code == 3
    assert "to wait longer" in str(error)


@pytest.mark.parametrize(
    "failure",
    [
        Failure(MISSING_FRAMEWORK, "No module named 'torch'"),
        Failure("crashed", loss=Loss(kind="died", code=-11)),
    ],
)
def test_a_framework_that_cannot_be_loaded_is_missing(
    failure: Failure, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = error_of(failure, monkeypatch)
    assert type(error) is MissingFrameworkError
    assert str(error).startswith("PyTorch cannot be used: ")


def test_the_api_raises_it_where_the_limit_of_the_run_is_reached() -> None:
    with pytest.raises(TimeLimitError, match="the time limit of the whole run was reached"):
        api.explore("aliased_input", timeout=1e-9, fresh=True)


BY_X = GradCase("value_and_grad", 0)

DIED = Loss(kind="died", code=-11)
LATE = Loss(kind="no_answer", amount=60)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_remark_names_the_framework_whose_worker_was_lost(engine: str) -> None:
    framework = ENGINES[engine].framework
    outcomes: dict[JobKey, JobOutcome] = {JobKey("levels", engine): Lost("crashed", DIED)}
    facts = [remark.fact for remark in losses(outcomes)]
    assert facts == [NoiseUnknown(framework, Lost("crashed", DIED).failure)]
    outcomes[JobKey("noise", f"{framework}-tape", BY_X)] = Lost("timed_out", LATE)
    assert [remark.fact for remark in losses(outcomes)] == facts


def test_each_framework_has_a_remark_of_its_own() -> None:
    outcomes: dict[JobKey, JobOutcome] = {
        JobKey("noise", "torch-tape", BY_X): Lost("crashed", DIED),
        JobKey("levels", "mindspore-tape"): Lost("timed_out", LATE),
    }
    facts = [remark.fact for remark in losses(outcomes)]
    assert facts == [
        NoiseUnknown("torch", Lost("crashed", DIED).failure),
        NoiseUnknown("mindspore", Lost("timed_out", LATE).failure),
    ]
    assert losses({}) == ()
