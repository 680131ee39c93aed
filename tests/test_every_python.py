"""What CI runs on every promised Python beside the quick tests: workers, studies, board, page, nets.

``make sample`` runs them, and those of test_packaging.py that have the same mark.
"""

import re
import shutil
import typing
from pathlib import Path
from typing import Any

import pytest

from explorer.cli.entry import run
from explorer.environments.known import in_use
from explorer.model.engines import FRAMEWORKS, PlainKind, WorkerKind
from explorer.model.environments import Environment
from explorer.topics import STUDIES
from explorer.workers.nursery import Nursery
from explorer.workers.process import WorkerProcess
from tests.support.browsers import watched
from tests.support.command_line import ROOT
from tests.support.servers import serving_app


def on_every_python(test: Any) -> Any:
    """A test that asks both frameworks, and is run on every promised Python."""
    for mark in (pytest.mark.sample, pytest.mark.whole, pytest.mark.mindspore, pytest.mark.torch):
        test = mark(test)
    return test


def promised(file: str, pattern: str) -> tuple[str, ...]:
    """The versions of Python that the first match of a pattern in a file names."""
    match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"))
    assert match, f"{file} says nothing of Python"
    return tuple(re.findall(r"3\.\d+", match[0]))


def test_every_promised_python_is_run_by_ci() -> None:
    run_by_ci = promised(".ci/run", r'PYTHONS="[^"]*"')
    assert run_by_ci == ("3.10", "3.11", "3.12")
    assert promised("README.md", r"Python [^;]* or newer") == run_by_ci[:1]
    assert promised("pyproject.toml", r"requires-python = .*") == run_by_ci[:1]
    assert sorted(promised("Makefile", r"CANDIDATES := .*")) == sorted(run_by_ci)
    lowest, highest = re.findall(r"\(3, (\d+)\)", (ROOT / "Makefile").read_text("utf-8"))
    assert (f"3.{lowest}", f"3.{highest}") == (run_by_ci[0], run_by_ci[-1])


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> set[WorkerKind]:
    """The kinds of worker process that were started."""
    started: set[WorkerKind] = set()

    def noted(kind: WorkerKind, home: Environment, nursery: Nursery | None) -> WorkerProcess:
        started.add(kind)
        return WorkerProcess(kind, home, nursery)

    monkeypatch.setattr("explorer.workers.workers.WorkerProcess", noted)
    return started


@on_every_python
def test_every_kind_of_worker_starts_and_answers(
    kinds: set[WorkerKind], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(ROOT / "scenarios" / "conv_bn_relu_pool.py", tmp_path / "mine.py")
    assert run(["scenario", str(tmp_path / "mine.py"), "--cases", "structure"]) == 0
    assert run(["study", "stages", "polynomial"]) == 0
    assert run(["study", "tape-life", "polynomial"]) == 0
    assert run(["sweep", str(ROOT / "scenarios" / "polynomial.py")]) == 0
    optional = set(FRAMEWORKS) - set(in_use())
    assert kinds == set(typing.get_args(PlainKind)) - optional, capsys.readouterr().err


@on_every_python
@pytest.mark.usefixtures("warm")  # what the tests of topics have measured is not measured again
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_measures_on_both_frameworks(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["study", name]) == 0, capsys.readouterr().out
    assert "internal error of the explorer" not in capsys.readouterr().out


@on_every_python
@pytest.mark.usefixtures("warm")
def test_the_board_is_that_of_the_pinned_versions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["claims"]) == 0, capsys.readouterr().out


@on_every_python
@pytest.mark.parametrize("name", ["custom_gradient", "real/diffusion_denoiser", "real/dqn"])
def test_a_net_s_tapes_are_recorded_proven_and_agree(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", name, "torch-tape", "mindspore-tape"]) == 0, capsys.readouterr().out


@on_every_python
def test_twenty_random_nets_show_nothing_that_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["fuzz", "--cases", "20", "--seed", "3", "--out", str(tmp_path)]
    assert run(command) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.splitlines()[-1].startswith("20 nets in ")
    assert [path.name for path in tmp_path.iterdir()] == ["fuzz.json"]


@pytest.mark.sample
@pytest.mark.browser
@pytest.mark.whole
def test_the_first_page_shows_every_shipped_scenario(chromium: str) -> None:
    with serving_app({}) as url, watched(chromium, url) as browser:
        browser.page.goto(url)
        browser.page.get_by_role("link", name="dense_mse").wait_for()
        assert browser.errors == []
