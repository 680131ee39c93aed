"""Workers in another environment: run there, with nothing written into it, and never mistaken for here."""

import hashlib
import json
from pathlib import Path

import pytest

import explorer as api
from explorer.cli.entry import run
from explorer.environments import known
from explorer.environments.overlay import _install, overlay
from explorer.exploration.installed import about
from explorer.folders import SETTINGS
from explorer.model.errors import MissingFrameworkError, UsageError
from explorer.model.results import About
from explorer.workers.workers import Workers
from tests.support.environments import environment, lend_packages, packages_of, say_version
from tests.support.nets import NETS
from tests.support.worker_targets import Word

pytestmark = pytest.mark.torch

ROOT = NETS.parent.parent
SQUARE = NETS / "square.py"

PACKAGE = """
import torch


class Square(torch.nn.Module):
    def forward(self, x):
        return (x * x).sum()
"""


@pytest.fixture
def lent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment called "lent", which imports PyTorch from here; its folder."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where the functions that workers run here are
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings"))
    folder = tmp_path / "lent"
    python = environment(folder)
    lend_packages(folder)
    known.add("lent", str(python))
    return folder


def contents(folder: Path) -> dict[str, str]:
    """All files of a folder, with what is in them."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inside = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = hashlib.sha256(inside).hexdigest()
    return found


def test_a_report_says_what_is_in_the_environments_which_are_left_as_they_were(lent: Path) -> None:
    before = contents(lent)
    engines = ("torch-tape@lent", "torch-tape")
    report = api.explore(SQUARE, engines=engines, cases="main").report
    assert set(report.environments) == {"lent"}
    assert report.environments["lent"]["torch"] == report.versions["torch"]
    assert {graph.engine for graph in report.graphs} == set(engines)
    assert set(report.devices) == set(engines)
    assert contents(lent) == before


@pytest.mark.sample
@pytest.mark.whole
def test_a_worker_runs_in_its_environment_and_is_started_anew_where_that_has_changed(
    lent: Path,
) -> None:
    process = "tests.support.worker_targets:process"
    evaluated = "tests.support.worker_targets:evaluated"
    with Workers() as workers:
        prefix = workers.call("torch@lent", evaluated, Word("sys.prefix"), Word)
        assert prefix == Word(str(lent))
        assert isinstance(about(workers, {"torch@lent": "torch"})["torch@lent"], About)
        told = [workers.call("torch@lent", process, Word(""), Word) for _ in range(2)]
        say_version(lent, "torch", "2.6.0")
        told.append(workers.call("torch@lent", process, Word(""), Word))
    assert told[0] == told[1] != told[2]


def test_an_upgrade_in_an_environment_gives_a_new_answer(
    lent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["diff", str(SQUARE), "torch-tape@lent", "torch-graph@lent"]
    for version, is_stored in (("2.6.0", False), ("2.6.0", True), ("2.15.0", False)):
        say_version(lent, "torch", version)
        assert run(command) == 0
        assert ("stored result shown" in capsys.readouterr().err) is is_stored


@pytest.mark.whole
def test_a_framework_that_a_variable_moves_is_another_answer(
    lent: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["diff", str(SQUARE), "torch-tape", "torch-graph"]
    assert run(command) == 0
    monkeypatch.setenv("EXPLORER_TORCH_PYTHON", str(lent))
    say_version(lent, "torch", "2.6.0")
    capsys.readouterr()
    assert run(command) == 0
    assert "stored" not in capsys.readouterr().err


def test_an_environment_without_the_framework_is_refused(lent: Path) -> None:
    bare = environment(lent.parent / "bare")
    known.add("bare", str(bare))
    with pytest.raises(UsageError, match="environment 'bare' has no PyTorch"):
        api.diff(SQUARE, "torch-tape@bare", "torch-tape")
    with pytest.raises(UsageError, match="names no environment"):
        api.diff(SQUARE, "torch-tape@", "torch-tape")


@pytest.mark.usefixtures("own_nurseries")
def test_a_framework_that_is_listed_and_not_there_is_told_with_the_environment(lent: Path) -> None:
    empty = lent.parent / "empty"
    known.add("empty", str(environment(empty)))
    say_version(empty, "torch", "2.6.0")
    with pytest.raises(MissingFrameworkError, match=r"No module named .* in environment 'empty'"):
        api.diff(SQUARE, "torch-tape@empty", "torch-tape")


@pytest.mark.mindspore
@pytest.mark.whole
def test_claims_are_judged_in_an_environment(
    lent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say_version(lent, "torch", "2.6.0")
    assert run(["claims", "54", "--on", "lent", "--against", "lent"]) == 0
    assert "changed: 54" not in capsys.readouterr().out
    assert run(["claims", "54", "--versions"]) == 0
    assert "PyTorch 2.6.0, " in capsys.readouterr().out
    assert run(["claims", "--versions", "--on", "lent"]) == 2
    assert "leave out --on" in capsys.readouterr().err


def test_ones_own_net_is_found_in_the_environment_where_it_is_installed(lent: Path) -> None:
    (packages_of(lent) / "only_there.py").write_text(PACKAGE)
    net = api.nets(torch="only_there:Square", torch_python="lent", inputs={"x": [1.0, 2.0]})
    assert net.at_home("torch-tape") == "torch-tape@lent"
    assert api.diff(net, "torch-tape", "torch-graph").is_same


@pytest.mark.usefixtures("own_nurseries")
def test_environments_are_checked_by_a_worker_in_each(
    lent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["env", "check", "lent"]) == 0
    assert "(tried)" in capsys.readouterr().out
    empty = lent.parent / "empty"
    known.add("empty", str(environment(empty)))
    say_version(empty, "torch", "2.6.0")
    assert run(["env", "check", "empty"]) == 3
    assert "No module named" in capsys.readouterr().out


def test_what_a_worker_needs_is_put_beside_by_pip_where_the_python_is_another(
    lent: Path, tmp_path: Path
) -> None:
    # As for a Python that takes other compiled modules: this one has no pip of its own.
    _install(known.named("lent"), tmp_path / "made")
    assert (tmp_path / "made" / "msgspec").is_dir()
    assert overlay(known.named("lent")).is_dir()


@pytest.mark.whole
def test_doctor_lists_environments_and_what_is_wrong_with_one(
    lent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = environment(lent.parent / "gone")
    known.add("gone", str(gone))
    gone.unlink()
    assert run(["doctor"]) in (0, 3)
    shown = capsys.readouterr().out
    assert "environment lent" in shown
    assert "env remove gone" in shown


def test_doctor_says_what_is_limited_by_the_version_in_an_environment(
    lent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say_version(lent, "torch", "2.10.1")
    assert run(["doctor", "--json"]) in (0, 3)
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    found = checks["environment lent"]
    assert found["tried"] is True
    (limit,) = found["limits"]
    assert (limit["environment"], limit["engine"]) == ("lent", "torch-graph")
    assert limit["text"].endswith("before PyTorch 2.11")
    assert checks["python"]["tried"] is None


def test_a_sweep_runs_in_an_environment_of_the_project_and_names_it(
    lent: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    python = known.named("lent").python
    table = f'[tool.explorer.environments]\nours = "{python}"\n'
    (lent.parent / "pyproject.toml").write_text(table)
    monkeypatch.chdir(lent.parent)
    assert run(["sweep", str(SQUARE), "--on", "ours", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document["environments"]) == {"ours"}
    (row,) = document["rows"]
    assert row["environments"] == document["environments"]
    assert "torch-tape@ours · torch-graph@ours" in row["pairs"]


@pytest.mark.parametrize("option", ["--studies", "--scheduler=tcp://127.0.0.1:8786"])
def test_a_sweep_in_an_environment_is_of_scenarios_on_this_machine(
    lent: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert run(["sweep", str(SQUARE), "--on", "lent", option]) == 2
    assert f"leave out {option.partition('=')[0]}" in capsys.readouterr().err
