"""The app offers the scenarios of the folders that its owner configured, and no others."""

import os
from pathlib import Path

import pytest

from explorer.web.offered_scenarios import (
    VARIABLE,
    digest_of_file,
    first_scenario,
    is_shipped,
    offered,
    scenario,
)
from tests.support.scenario_files import MINIMAL, written


@pytest.mark.slow
def test_a_scenario_is_loaded_anew_only_when_its_text_has_changed(tmp_path: Path) -> None:
    file = written(tmp_path, MINIMAL)
    first, before = scenario(file), digest_of_file(file)
    assert scenario(file) is first
    file.write_text('"""Another title."""\n' + MINIMAL)
    assert digest_of_file(file) != before
    assert scenario(file).title == "Another title"


def test_a_scenario_s_digest_changes_with_what_it_imports_from_its_folder(tmp_path: Path) -> None:
    helper = written(tmp_path, "A = 1\n", "helper.py")
    file = written(tmp_path, f"import helper\n{MINIMAL}")
    before = digest_of_file(file)
    helper.write_text("A = 2\n")
    assert digest_of_file(file) != before
    assert "No such file" in digest_of_file(tmp_path / "nowhere.py")


def test_files_of_one_name_are_told_apart_by_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    for folder in ("a", "b", "c/b"):
        (tmp_path / folder).mkdir(parents=True)
        files.append(written(tmp_path / folder, MINIMAL, "net.py"))
    shipped = written(tmp_path, MINIMAL, "dense_mse.py")
    places = [*files, shipped, tmp_path / "a"]
    monkeypatch.setenv(VARIABLE, os.pathsep.join(map(str, places)))
    found = offered()
    assert [found[name] for name in ("net", "b/net", "c/b/net")] == files
    assert is_shipped(found["dense_mse"])
    own = {name for name, path in found.items() if not is_shipped(path)}
    assert own == {"net", "b/net", "c/b/net", f"{tmp_path.name}/dense_mse"}


def test_pages_open_with_the_first_file_that_the_owner_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first_scenario() == "dense_mse"
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    written(tmp_path, MINIMAL, "a.py")
    assert first_scenario() == "dense_mse", "a folder names no file"
    file = written(tmp_path, MINIMAL, "mine.py")
    monkeypatch.setenv(VARIABLE, f"{tmp_path}{os.pathsep}{file}")
    assert first_scenario() == "mine"
