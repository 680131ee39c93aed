"""The corpus says what the explorer records today."""

import pytest

from tests.corpus import folder
from tests.support.scenario_reports import Reports, each_scenario


def test_every_scenario_has_a_folder() -> None:
    folders = {path.name for path in folder.FOLDER.iterdir() if path.is_dir()}
    assert folders == {path.stem for path in folder.SCENARIOS.values()}


def test_the_corpus_stays_small() -> None:
    files = list(folder.FOLDER.rglob("*.txt"))
    assert len(files) <= 350
    assert sum(file.stat().st_size for file in files) <= 4.5e6


@pytest.mark.mindspore
@pytest.mark.torch
@pytest.mark.parametrize("name", each_scenario(folder.SCENARIOS))
def test_the_report_is_as_recorded(report: Reports, name: str) -> None:
    others = folder.other_versions()
    if "python" in others or "processor" in others:
        pytest.skip(others)
    assert not others, f"{others}; `make corpus` records all of it anew"
    diff = folder.differences(report(name))
    assert not diff, f"read this diff, and record it with `make corpus` if it is right\n{diff}"
