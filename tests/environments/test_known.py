"""Environments by name: where names come from, and what is said of a wrong one."""

import os
import sys
from pathlib import Path

import pytest

from explorer.environments import known
from explorer.environments.interpreters import OLDEST, interpreter, is_own, own, versions
from explorer.environments.known import environment_for, home_of, named
from explorer.folders import SETTINGS
from explorer.model.engines import engine_named
from explorer.model.errors import UsageError
from explorer.topics.version_boards import versions_there
from tests.support.environments import environment, lend_packages, say_version


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has settings of its own, and stands in an empty folder."""
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings"))
    for variable in known.VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def torch26(tmp_path: Path) -> Path:
    """An environment that says that it holds torch 2.6.0; the path of its Python."""
    python = environment(tmp_path / "torch26")
    say_version(tmp_path / "torch26", "torch", "2.6.0")
    return python


def test_an_added_environment_is_known_until_it_is_removed(torch26: Path) -> None:
    facts = known.add("torch26", str(torch26))
    assert facts.versions == {"torch": "2.6.0"}
    assert facts.python == ".".join(map(str, sys.version_info[:3]))
    assert named("torch26").python == str(torch26)
    known.remove("torch26")
    assert known.known() == {}


@pytest.mark.parametrize("place", ["torch26", "torch26/bin/python"])
def test_an_environment_is_added_by_its_folder_or_its_python(
    place: str, torch26: Path, tmp_path: Path
) -> None:
    assert known.add("mine", str(tmp_path / place)).environment.python == str(torch26)


def test_an_environment_of_conda_is_added_by_its_name(
    torch26: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".conda").mkdir()
    (tmp_path / ".conda" / "environments.txt").write_text(f"/elsewhere\n{tmp_path / 'torch26'}\n")
    assert known.add("mine", "torch26").environment.python == str(torch26)


def test_a_link_to_one_python_in_two_environments_is_two_environments(
    torch26: Path, tmp_path: Path
) -> None:
    other = environment(tmp_path / "other")
    assert torch26.resolve() == other.resolve()
    assert versions(known.add("a", str(torch26)).environment) == {"torch": "2.6.0"}
    assert versions(known.add("b", str(other)).environment) == {}


def test_the_environments_of_a_project_go_before_ones_own(
    torch26: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known.add("mine", str(environment(tmp_path / "other")))
    (tmp_path / "pyproject.toml").write_text(
        '[tool.explorer.environments]\nmine = "torch26/bin/python"\n'
    )
    inside = tmp_path / "here" / "deep"
    inside.mkdir()
    monkeypatch.chdir(inside)
    assert named("mine").python == str(torch26)
    assert named("mine").origin == "project"
    with pytest.raises(UsageError, match=r"allowed"):
        known.remove("elsewhere")


def test_a_framework_is_run_where_a_variable_says(
    torch26: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_own(home_of("torch"))
    monkeypatch.setenv("EXPLORER_TORCH_PYTHON", str(torch26))
    assert home_of("torch").python == str(torch26)
    assert is_own(home_of("mindspore"))
    assert environment_for("torch").python == str(torch26)
    monkeypatch.setenv("EXPLORER_TORCH_PYTHON", "/nowhere/python")
    with pytest.raises(UsageError, match="EXPLORER_TORCH_PYTHON: no Python at '/nowhere/python'"):
        home_of("torch")
    assert [facts.error for facts in known.every() if facts.environment.origin == "variable"]
    assert is_own(environment_for("scenario"))


@pytest.mark.slow
def test_a_framework_that_is_not_here_is_run_in_the_first_environment_that_has_it(
    torch26: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known.add("a", str(environment(tmp_path / "other")))
    known.add("b", str(torch26))
    monkeypatch.setattr(known, "own", lambda: known.named("a"))
    assert home_of("torch").name == "b"
    assert home_of("mindspore").name == "a"


def test_an_engine_names_its_environment(torch26: Path) -> None:
    known.add("torch26", str(torch26))
    engine = engine_named("torch-tape@torch26")
    assert engine.name == "torch-tape@torch26"
    assert engine.label == "PyTorch, tape, torch26"
    assert engine.answers_in == ("torch@torch26",)
    assert environment_for(engine.captures_in).name == "torch26"


@pytest.mark.slow
def test_each_framework_is_at_home_in_the_environment_that_has_it(
    torch26: Path, tmp_path: Path
) -> None:
    known.add("torch26", str(torch26))
    known.add("ms28", str(environment(tmp_path / "ms28")))
    with pytest.raises(UsageError, match="'ms28' has none of MindSpore, PyTorch and JAX"):
        known.homes_of(["torch26", "ms28"])
    say_version(tmp_path / "ms28", "mindspore", "2.8.0")
    assert known.homes_of(["torch26", "ms28"]) == {"torch": "torch26", "mindspore": "ms28"}
    say_version(tmp_path / "ms28", "torch", "2.2.2")
    with pytest.raises(UsageError, match="'torch26' and 'ms28' both have PyTorch"):
        known.homes_of(["torch26", "ms28"])


@pytest.mark.slow
def test_versions_are_tried_once_each_and_the_oldest_first(torch26: Path, tmp_path: Path) -> None:
    known.add("torch26", str(torch26))
    for name, version in (("again", "2.6.0"), ("torch210", "2.10.0")):
        known.add(name, str(environment(tmp_path / name)))
        say_version(tmp_path / name, "torch", version)
    there = {
        each.version: each.environment for each in versions_there() if each.framework == "torch"
    }
    own_version = versions(own()).get("torch")
    expected = {"2.6.0": "torch26", "2.10.0": "torch210"}
    if own_version:
        expected[own_version] = ""
    assert there == expected
    assert list(there)[:2] == ["2.6.0", "2.10.0"]


def test_an_upgrade_is_seen_at_once(torch26: Path, tmp_path: Path) -> None:
    facts = known.add("torch26", str(torch26))
    assert versions(facts.environment) == {"torch": "2.6.0"}
    say_version(tmp_path / "torch26", "torch", "2.15.0")
    assert versions(facts.environment) == {"torch": "2.15.0"}


def test_a_lent_package_is_found_behind_the_own_ones(torch26: Path, tmp_path: Path) -> None:
    lend_packages(tmp_path / "torch26")
    facts = known.add("torch26", str(torch26))
    assert facts.versions["torch"] == "2.6.0"
    assert facts.versions["numpy"] == versions(own())["numpy"]


WRONG: dict[str, tuple[str, str, str]] = {
    "a name": ("a/b", "torch26", "'a/b' cannot name an environment; use letters"),
    "nothing there": ("mine", "nowhere", "no Python at '.*nowhere'; give the path"),
    "no Python": ("mine", "text", "is no Python that runs: "),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_environment_is_refused(case: str, torch26: Path, tmp_path: Path) -> None:
    assert torch26.is_file()
    (tmp_path / "text").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "text").chmod(0o755)
    name, place, said = WRONG[case]
    with pytest.raises(UsageError, match=said):
        known.add(name, str(tmp_path / place))
    assert known.known() == {}


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "python"
    answer = '{"version": "3.8.18", "suffix": ".so", "paths": [], "prefix": "/"}'
    script.write_text(f"#!/bin/sh\necho 'explorer:{answer}'\n")
    script.chmod(0o755)
    assert OLDEST > (3, 8)
    with pytest.raises(UsageError, match=r"is Python 3\.8\.18; workers need 3\.10 or newer"):
        known.add("old", str(script))


def test_an_environment_whose_python_is_gone_is_told(torch26: Path, tmp_path: Path) -> None:
    known.add("torch26", str(torch26))
    torch26.unlink()
    with pytest.raises(UsageError, match="environment 'torch26': no Python at"):
        interpreter(named("torch26"))
    (facts,) = [facts for facts in known.every() if facts.environment.name == "torch26"]
    assert "no Python at" in facts.error
    known.remove("torch26")
    assert tmp_path.is_dir()


def test_an_unknown_environment_is_refused_with_those_that_are_known(torch26: Path) -> None:
    with pytest.raises(UsageError, match="unknown environment 'torch26'; none is known yet"):
        named("torch26")
    known.add("torch26", str(torch26))
    with pytest.raises(UsageError, match="did you mean 'torch26'"):
        named("torch25")


def test_a_broken_list_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "settings" / known.FILE
    file.parent.mkdir()
    file.write_text("{")
    with pytest.raises(UsageError, match="cannot be read"):
        known.known()
    assert file.read_text() == "{"


def test_a_list_that_cannot_be_written_is_told(
    torch26: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTINGS, os.devnull)
    with pytest.raises(UsageError, match=r"cannot be (read|written)"):
        known.add("torch26", str(torch26))
