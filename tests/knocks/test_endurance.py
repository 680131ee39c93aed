"""Many runs in one process hold no more at the end than half-way."""

from pathlib import Path

import pytest

from explorer.model.engines import Engine
from tests.knocks.endurance import Growth, Held, growth_of_worker, growths, held, repeated
from tests.support.standard_engines import ENGINES

BEFORE = Held(100.0, 0, 10, 1, 0)


@pytest.mark.torch
@pytest.mark.whole
def test_nothing_grows_over_stored_and_fresh_runs() -> None:
    for name, growth in growths(stored=1000, fresh=6).items():
        assert growth.problems == [], name


@pytest.mark.torch
@pytest.mark.mindspore
@pytest.mark.whole
@pytest.mark.parametrize("engine", ENGINES.values(), ids=lambda engine: engine.name)
def test_a_worker_frees_what_it_captured(engine: Engine) -> None:
    assert growth_of_worker(engine, captures=10).problems == []


@pytest.mark.parametrize(
    "after",
    [
        BEFORE._replace(memory=111.0),
        BEFORE._replace(processes=1),
        BEFORE._replace(files=11),
        BEFORE._replace(threads=2),
        BEFORE._replace(folders=1),
    ],
)
def test_what_grows_is_told(after: Held) -> None:
    assert len(Growth(10, BEFORE, after).problems) == 1
    assert Growth(10, BEFORE, BEFORE._replace(memory=109.0)).problems == []
    assert len(Growth(10, BEFORE, BEFORE._replace(memory=109.0), most=8.0).problems) == 1


def test_files_that_are_left_open_are_seen(tmp_path: Path) -> None:
    left_open = []
    growth = repeated(
        lambda: left_open.append((tmp_path / "x").open("w")), 10, lambda: held(tmp_path)
    )
    assert [problem.split()[0] for problem in growth.problems] == ["files"]
    for file in left_open:
        file.close()
    assert held(tmp_path).folders == 1
