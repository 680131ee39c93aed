"""A server starts the workers of a scenario before anything is asked, unless its owner says no."""

import pytest

from explorer.web import warm_up
from explorer.web.shared_runs import SharedRuns
from explorer.workers.workers import Workers
from tests.support.standard_engines import ENGINES


def started(workers: Workers) -> set[str]:
    return {kind for kind, state in workers.states().items() if state != "not started"}


def test_the_workers_are_those_that_engines_answer_and_capture_in() -> None:
    kinds: dict[str, str] = {}
    for engine in ENGINES.values():
        kinds.update(dict.fromkeys((*engine.answers_in, engine.captures_in), engine.framework))
    assert kinds == warm_up.KINDS


@pytest.mark.whole
@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.slow
def test_every_worker_of_a_scenario_is_started() -> None:
    with Workers() as workers:
        warm_up.start_workers(workers)
        assert started(workers) == set(warm_up.KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["no", "No"])
def test_an_owner_who_says_no_has_no_worker_started(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = SharedRuns(Workers())
    monkeypatch.setattr(warm_up, "shared_runs", lambda: runs)  # those of this process have asked
    monkeypatch.setenv(warm_up.VARIABLE, word)
    warm_up.warm_up().join()
    assert started(runs.workers) == set()
