"""The app offers the scenarios of the folders that its owner configured, and no others."""

from pathlib import Path

import pytest

from explorer.scenario.find import SHIPPED
from explorer.web.offered_scenarios import VARIABLE, digest_of_file, folders, offered, scenario
from tests.support.scenario_files import MINIMAL, written


def test_only_scenarios_of_configured_folders_are_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path, MINIMAL, "mine.py")
    assert "mine" not in offered()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert folders() == (*SHIPPED, tmp_path)
    assert offered()["mine"] == file


def test_a_scenario_is_loaded_anew_only_when_its_text_has_changed(tmp_path: Path) -> None:
    file = written(tmp_path, MINIMAL)
    first, before = scenario(file), digest_of_file(file)
    assert scenario(file) is first
    file.write_text('"""Another title."""\n' + MINIMAL)
    assert digest_of_file(file) != before
    assert scenario(file).title == "Another title"


def test_a_file_that_cannot_be_read_has_a_digest_too(tmp_path: Path) -> None:
    assert "No such file" in digest_of_file(tmp_path / "nowhere.py")
